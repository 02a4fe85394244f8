// A TlsContext has what all connections to a target share: whom we trust (trust()) and who we are (identify()). It is
// made before the first connection, so a wrong file is an error of the configuration, and names its option.
//
// A TlsSession has no socket: the Wire gives it what it has read, and writes what take_wire() returns. Its failure is
// the same for a broken handshake and for a server that speaks no TLS, but the text says which.

#include "redis/connection/tls.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/as_given.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/text.h"
#include "redis/connection/tls_library.h"
#include "redis/connection/trust_store.h"

namespace rlock {

using namespace openssl;  // hides OpenSSL's own functions: see tls_library.h

namespace {

/// The reason that OpenSSL gives for this error.
std::string openssl_reason(unsigned long error) {
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? lower_first(reason) : fmt::format("error {:x}", error);
}

[[noreturn]] void refuse(std::string_view option, const std::string& path, std::string_view why) {
  throw Error{Error::config,
              fmt::format("{} {}: {}", as_given(option, fmt::format("--{}", option)), in_quotes(path), why)};
}

/// If a FIFO has no writer, OpenSSL would wait for ever to open it, and our signals would not end that. So it gets
/// regular files only.
void require_readable(std::string_view option, const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  if (!file) refuse(option, path, errno_text(errno));
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0) refuse(option, path, errno_text(errno));
  if (S_ISDIR(facts.st_mode)) refuse(option, path, "is a directory");
  if (!S_ISREG(facts.st_mode)) refuse(option, path, "is not a regular file");
}

bool is_fifo(int folder, const char* path) {
  struct stat facts{};
  return ::fstatat(folder, path, &facts, 0) == 0 && S_ISFIFO(facts.st_mode);
}

/// OpenSSL looks up certificates by the hash of their subject. It silently ignores files with other names.
void require_hashed(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory{::opendir(path.c_str()), &::closedir};
  if (!directory) refuse("cacertdir", path, errno_text(errno));
  bool found = false;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
    if (name.size() < 10 || name[8] != '.' || !std::all_of(name.begin(), name.begin() + 8, is_hex)) continue;
    found = true;
    if (entry->d_type != DT_REG && is_fifo(::dirfd(directory.get()), entry->d_name))
      refuse("cacertdir", path, fmt::format("{} is not a regular file", in_quotes(entry->d_name)));
  }
  if (found) return;
  refuse("cacertdir", path, "has no certificate under its hash; `openssl rehash` makes such names");
}

/// rlock does not ask for a passphrase, because cron could not answer.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

bool is_numeric(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

SSL_CTX* new_context() {
  openssl::load();
  return SSL_CTX_new(TLS_client_method());
}

}  // namespace

// --- the context -----------------------------------------------------------------------------------

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

TlsContext::TlsContext(const Tls& tls) : tls_(tls), context_(new_context()) {
  if (!context_) throw Error{Error::system, "cannot initialise OpenSSL: " + openssl_reason(ERR_get_error())};
  SSL_CTX_set_min_proto_version(handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(handle(), SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_options(handle(), SSL_OP_NO_RENEGOTIATION);  // what encrypt() gets during one would be lost
  SSL_CTX_set_verify(handle(), tls_.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  trust();
  identify();
  if (tls_.insecure) {
    warn(
        "--insecure: the server's certificate is NOT checked; a host between rlock and the server "
        "could read the password and grant locks");
  }
}

void TlsContext::trust() {
  ERR_clear_error();
  if (!tls_.cacert.empty()) {
    require_readable("cacert", tls_.cacert);
    if (SSL_CTX_load_verify_file(handle(), tls_.cacert.c_str()) != 1)
      refuse("cacert", tls_.cacert,
             fmt::format("no certificate in PEM ({})", openssl_reason(ERR_get_error())));
  }
  if (!tls_.cacertdir.empty()) {
    require_hashed(tls_.cacertdir);
    if (SSL_CTX_load_verify_dir(handle(), tls_.cacertdir.c_str()) != 1)
      refuse("cacertdir", tls_.cacertdir, openssl_reason(ERR_get_error()));
  }
  if (tls_.cacert.empty() && tls_.cacertdir.empty()) trust_system();
}

/// Uses SSL_CERT_FILE and SSL_CERT_DIR if they are set, else the certificates of this system.
void TlsContext::trust_system() {
  if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr && is_fifo(AT_FDCWD, file))
    throw Error{Error::config, fmt::format("SSL_CERT_FILE {}: is not a regular file", in_quotes(file))};
  SSL_CTX_set_default_verify_paths(handle());
  if (!openssl::linked() || std::getenv("SSL_CERT_FILE") != nullptr || std::getenv("SSL_CERT_DIR") != nullptr)
    return;
  const std::string store = trust_store();
  trusts_nobody_ = store.empty() || SSL_CTX_load_verify_file(handle(), store.c_str()) != 1;
}

void TlsContext::identify() const {
  if (tls_.cert.empty()) return;
  require_readable("cert", tls_.cert);
  require_readable("tls-key", tls_.key);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(handle(), tls_.cert.c_str()) != 1)
    refuse("cert", tls_.cert, fmt::format("no certificate in PEM ({})", openssl_reason(ERR_get_error())));

  bool asked = false;
  SSL_CTX_set_default_passwd_cb(handle(), &no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(handle(), &asked);
  const bool read = SSL_CTX_use_PrivateKey_file(handle(), tls_.key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(handle(), nullptr);
  if (asked)
    refuse("tls-key", tls_.key,
           "is encrypted; rlock asks for no passphrase: `openssl pkey` writes it without one");
  const unsigned long error = ERR_peek_error();
  const bool mismatch =
      read ? SSL_CTX_check_private_key(handle()) != 1 : ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH;
  if (mismatch)
    refuse("tls-key", tls_.key,
           fmt::format("is not the key of {} {}", as_given("cert", "--cert"), in_quotes(tls_.cert)));
  if (!read) refuse("tls-key", tls_.key, fmt::format("no private key in PEM ({})", openssl_reason(error)));
}

std::string tls_library_version() {
  openssl::load();
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

std::shared_ptr<const TlsContext> tls_context(const Tls& tls) {
  return tls.on ? std::make_shared<const TlsContext>(tls) : nullptr;
}

// --- the session -----------------------------------------------------------------------------------

void TlsSession::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host)
    : context_(std::move(context)),
      host_(context_->options().sni.empty() ? host.substr(0, host.find('%')) : context_->options().sni),
      session_(SSL_new(context_->handle())) {
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (!session_ || in == nullptr || out == nullptr) throw Error{Error::system, "out of memory"};
  BIO_set_mem_eof_return(in, -1);  // an empty buffer is not the end
  SSL_set_bio(session_.get(), in, out);
  SSL_set_connect_state(session_.get());
  SSL_set_hostflags(session_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool named = !is_numeric(host_);
  const bool set = named ? SSL_set1_host(session_.get(), host_.c_str()) == 1 &&
                               SSL_set_tlsext_host_name(session_.get(), host_.c_str()) == 1
                         : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), host_.c_str()) == 1;
  if (!set)
    throw Error{Error::config, fmt::format("{} is no name that a certificate could have", in_quotes(host_))};
  shake_hands();
}

void TlsSession::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    established_ = true;
  } else {
    fail(result);
  }
}

void TlsSession::fail(int result) {
  const int kind = SSL_get_error(session_.get(), result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return;
  if (kind == SSL_ERROR_ZERO_RETURN) {
    failure_ = Failure{Error::unreachable, "the server closed the connection"};
    return;
  }
  failure_ = failure_of_handshake(ERR_peek_error());
  ERR_clear_error();
}

std::string TlsSession::decrypt(std::string_view wire) {
  if (failure_) return {};
  const bool plaintext = !received_ && wire.front() != '\x16' && wire.front() != '\x15';  // handshake, alert
  received_ = true;
  if (plaintext) {
    failure_ = Failure{.text =
                           "the program at this address does not speak TLS: it looks like a plaintext server "
                           "(redis:// without the second s)",
                       .lasts = true};
    return {};
  }
  BIO_write(SSL_get_rbio(session_.get()), wire.data(), static_cast<int>(wire.size()));
  if (!established_) shake_hands();
  std::string plain;
  std::array<char, 16384> buffer;
  while (established_ && !failure_) {
    ERR_clear_error();
    const int got = SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) {
      fail(got);
      break;
    }
    plain.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return plain;
}

void TlsSession::encrypt(std::string_view plain) {
  if (plain.empty() || failure_) return;
  ERR_clear_error();
  const int result = SSL_write(session_.get(), plain.data(), static_cast<int>(plain.size()));
  if (result <= 0) fail(result);
}

std::string TlsSession::take_wire() {
  BIO* const out = SSL_get_wbio(session_.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  std::string wire{bytes, static_cast<std::size_t>(size)};
  (void)BIO_reset(out);
  return wire;
}

/// If either side rejects the other's certificate, the failure is `denied`. Other handshake failures may be
/// temporary.
Failure TlsSession::failure_of_handshake(unsigned long error) const {
  const long verdict = SSL_get_verify_result(session_.get());
  if (!context_->options().insecure && verdict != X509_V_OK) {
    const char* hint = "";
    if (verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
        verdict == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN || verdict == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
      hint = context_->trusts_nobody()
                 ? "; this machine has no authorities where a distribution keeps them: --cacert or "
                   "SSL_CERT_FILE names the authorities to trust"
                 : "; --cacert names the authorities to trust";
    return {Error::denied,
            fmt::format("the server's certificate does not prove that it is {}: {}{}", in_quotes(host_),
                        lower_first(X509_verify_cert_error_string(verdict)), hint)};
  }
  const int reason = ERR_GET_REASON(error);
  // OpenSSL numbers an alert of the server as 1000 plus the alert's number.
  constexpr std::array kAboutUs{
      SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,   SSL_R_SSLV3_ALERT_NO_CERTIFICATE,
      SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,     SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
      SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
      SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
      SSL_R_TLSV1_ALERT_ACCESS_DENIED,       SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED};
  if (std::ranges::find(kAboutUs, reason) != kAboutUs.end()) {
    const char* hint =
        context_->options().cert.empty() ? "; it may want a certificate of ours: --cert and --tls-key" : "";
    return {Error::denied,
            fmt::format("the server refused our side of TLS ({}){}", openssl_reason(error), hint)};
  }
  return {Error::unreachable, fmt::format("TLS failed ({})", openssl_reason(error))};
}

}  // namespace rlock
