#pragma once

#include <string>

#include "support/process.h"

namespace rlock::test {

/// A certification authority for one test, made by openssl(1) in its own folder.
class Certificates {
 public:
  struct Pair {
    std::string cert, key;  ///< paths of the files
  };
  struct Wanted {
    std::string names = "DNS:localhost,IP:127.0.0.1";  ///< subjectAltName; empty: none
    std::string from = "20200101000000Z";
    std::string until = "20991231235959Z";
    bool self_signed = false;
    std::string use = "serverAuth,clientAuth";
  };

  Certificates();

  /// Issues a certificate and its key. `common_name` is also the name of the files.
  Pair issue(const std::string& common_name, const Wanted& wanted);
  Pair issue(const std::string& common_name) { return issue(common_name, Wanted{}); }

  std::string authority() const { return directory_ / "ca.crt"; }
  const std::string& directory() const noexcept { return directory_.path(); }
  std::string operator/(const std::string& name) const { return directory_ / name; }

  /// Makes a folder with the authority's certificate, prepared by `openssl rehash`. Returns its path.
  std::string hashed_directory();

 private:
  void openssl(Words words) const;

  TempDir directory_;
};

}  // namespace rlock::test
