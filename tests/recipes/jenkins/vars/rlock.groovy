// A step of a shared library (library path: tests/recipes/jenkins) that runs a shell script under a lock:
//
//   rlock key: 'production', script: './deploy --to production'
//
// RLOCK_URL is set for the agents, and withCredentials gives RLOCK_PASSWORD. To abort, Jenkins sends SIGTERM to
// one process of the step after the other, children first, waits 5 s for all of them, and never kills. The
// guardian of rlock does not end by that, and as a rule its turn is before the command's: so an abort takes 5 s.
// A process of the script may outlive the shell: --until group keeps the lock until all of them have ended.
// This step was not run on the real system: the tests run and abort it as Jenkins does.
def call(Map lock) {
  withEnv(["LOCK_KEY=${lock.key}", "LOCK_WAIT=${lock.wait ?: '30m'}", "LOCK_OPTIONS=${lock.options ?: '--fair'}",
           "LOCKED=${lock.script}"]) {
    sh label: "rlock ${lock.key}", script: '''
      exec rlock run $LOCK_OPTIONS --until group -w "$LOCK_WAIT" --reason "$BUILD_TAG" -k "$LOCK_KEY" -- sh -xec "$LOCKED"
    '''
  }
}
