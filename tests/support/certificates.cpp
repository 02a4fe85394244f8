#include "support/certificates.h"

#include <sys/stat.h>

#include <stdexcept>

namespace rlock::test {
namespace {

/// The least configuration for `openssl ca`. Unlike `openssl x509`, it can make certificates with other
/// dates.
constexpr const char* kConfiguration = R"([ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
)";

}  // namespace

Certificates::Certificates() {
  write_file(directory_ / "ca.cnf", kConfiguration);
  write_file(directory_ / "index.txt", "");
  write_file(directory_ / "serial", "01\n");
  openssl({"req", "-x509", "-config", "ca.cnf", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test authority", "-days", "2",
           "-addext", "basicConstraints=critical,CA:TRUE"});
}

Certificates::Pair Certificates::issue(const std::string& common_name, const Wanted& wanted) {
  const std::string subject = "/CN=" + common_name;
  std::string extensions = "basicConstraints=CA:FALSE\nextendedKeyUsage=" + wanted.use + "\n";
  if (!wanted.names.empty()) extensions += "subjectAltName=" + wanted.names + "\n";
  write_file(directory_ / (common_name + ".ext"), extensions);
  openssl({"req", "-config", "ca.cnf", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
           "-keyout", common_name + ".key", "-out", common_name + ".csr", "-subj", subject});
  Words sign{"ca",
             "-batch",
             "-notext",
             "-config",
             "ca.cnf",
             "-in",
             common_name + ".csr",
             "-out",
             common_name + ".crt",
             "-startdate",
             wanted.from,
             "-enddate",
             wanted.until,
             "-extfile",
             common_name + ".ext"};
  if (wanted.self_signed) sign.insert(sign.end(), {"-selfsign", "-keyfile", common_name + ".key"});
  openssl(sign);
  return {directory_ / (common_name + ".crt"), directory_ / (common_name + ".key")};
}

std::string Certificates::hashed_directory() {
  const std::string folder = directory_ / "trusted";
  ::mkdir(folder.c_str(), 0700);
  write_file(folder + "/ca.pem", read_file(authority()));
  openssl({"rehash", folder});
  return folder;
}

void Certificates::openssl(Words words) const {
  words.insert(words.begin(), "openssl");
  Process process{words, {.directory = directory_.path()}};
  if (process.exit_code() != 0) throw std::runtime_error{"openssl failed: " + process.err()};
}

}  // namespace rlock::test
