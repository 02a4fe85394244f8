"""Deployments whose servers know each other: Sentinel, and a Cluster whose slots move."""

import time

from servers import PORT, Deployment, Server, Silent, at_once, until, until_ready

MASTER = "chaos"


def fields(text):
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


class Sentinel(Deployment):
    """A primary, its replica, and three Sentinels. A failover may lose writes that were not replicated. So each failover is recorded as
    a lapse. It lasts from the last time at which all was well until all is well again, with a later epoch."""

    replicated = True
    often = ("server killed", "partition")
    well_now = True

    def build(self, _count):
        hosts = [self.network.host() for _ in range(3)]
        first = Server(hosts[0])
        self.servers = [first, Server(hosts[1], f"replicaof {hosts[0].address} {PORT}")]
        self.sentinels = [
            Server(
                host,
                f"sentinel monitor {MASTER} {hosts[0].address} {PORT} 2",
                f"sentinel down-after-milliseconds {MASTER} 700",
                f"sentinel failover-timeout {MASTER} 3000",
                port=PORT + 1,
                sentinel=True,
            )
            for host in hosts
        ]
        self.well, self.epoch = self.chaos.now(), 0
        at_once(until(self.settled, "the Sentinels know a primary and its replica"))
        self.epoch = self.settled()

    def all_servers(self):
        return self.servers + self.sentinels

    def url(self):
        return "redis+sentinel://" + ",".join(sentinel.where for sentinel in self.sentinels) + f"/{MASTER}"

    def prefix(self, dice):
        """Some runs share the host of a server: they still reach it when it is cut off from all others."""
        return dice.choice([[], [], self.servers[0].host.prefix, self.servers[1].host.prefix])

    def free(self):
        """One fault at a time, and only if all is well: a failover needs a replica."""
        return super().free() if not any(server.busy for server in self.servers) and self.well_now else []

    def settled(self):
        """The epoch, if one server is the primary, the other is its replica, and all Sentinels agree; 0: they do not."""
        try:
            told = [fields(server.ask("INFO", "replication", patience=0.1)) for server in self.servers]
            primary = next((i for i, role in enumerate(told) if role.get("role") == "master"), None)
            if (
                primary is None
                or told[1 - primary].get("master_link_status") != "up"
                or told[1 - primary]["master_host"] != self.servers[primary].host.address
            ):
                return 0
            epochs = set()
            for sentinel in self.sentinels:
                words = sentinel.ask("SENTINEL", "MASTER", MASTER, patience=0.1)
                state = dict(zip(words[::2], words[1::2]))
                if state["ip"] != self.servers[primary].host.address or state["flags"] != "master":
                    return 0
                if state["num-slaves"] != "1" or state["num-other-sentinels"] != "2":
                    return 0
                epochs.add(int(state["config-epoch"]) + 1)
            return epochs.pop() if len(epochs) == 1 else 0
        except (Silent, KeyError, TypeError):
            return 0

    def watch(self):
        begun = self.chaos.now()
        epoch = self.settled()
        self.well_now = bool(epoch)
        if epoch and epoch != self.epoch:
            self.lapse(self.well, "a failover", replicated=True)
            self.chaos.note("fault", kind="failover")
            self.epoch = epoch
        if epoch:
            self.well = begun
        return self.well_now

    def promote(self, _server, _span):
        self.sentinels[2].ask("SENTINEL", "FAILOVER", MASTER)
        yield 1.0

    def faults(self):
        faults = self.usual_faults() | {"failover by hand": self.promote}
        sentinels = {"Sentinel killed": self.kill, "Sentinel stopped": self.freeze}
        return faults | {kind: self.of_sentinel(fault) for kind, fault in sentinels.items()}

    def of_sentinel(self, fault):
        return lambda server, span: fault(self.sentinels[(self.servers.index(server) + 1) % 3], span)


class Cluster(Deployment):
    """Three primaries. Slots move while keys in them are held. A move must not lose any write."""

    often = ("slot moved",)

    def build(self, _count):
        self.moving = set()
        self.meet_again = 0.0  # the time of the next CLUSTER MEET
        self.servers = [
            Server(
                self.network.host(),
                "cluster-enabled yes",
                "cluster-node-timeout 2000",
                "cluster-require-full-coverage no",
            )
            for _ in range(3)
        ]
        for server in self.servers:
            at_once(until_ready(server))
        for number, server in enumerate(self.servers):
            server.ask(
                "CLUSTER", "ADDSLOTSRANGE", number * 5461, number * 5461 + (5460 if number < 2 else 5461)
            )
            server.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        at_once(until(self.met, "the nodes of the Cluster know each other"))

    def met(self):
        """Do all nodes know each other? If not, sends CLUSTER MEET again: a node gives up a meeting after a second or two."""
        if all(self.knows_all(server) for server in self.servers):
            return True
        if time.monotonic() > self.meet_again:
            self.meet_again = time.monotonic() + 4
            for server in self.servers[1:]:
                server.ask("CLUSTER", "MEET", self.servers[0].host.address, PORT)
        return False

    @staticmethod
    def knows_all(server):
        told = fields(server.ask("CLUSTER", "INFO"))
        return (told["cluster_state"], told["cluster_known_nodes"], told["cluster_slots_ok"]) == (
            "ok",
            "3",
            "16384",
        )

    def url(self):
        return "redis+cluster://" + ",".join(server.where for server in self.servers)

    def key(self, word):
        """Several keys of one run must be in one slot."""
        return word.replace("pair.", "{pair}.")

    def move(self, server, span):
        """Moves a slot with a used key to `server`, with a pause in the middle of the move."""
        word = ("lock", "fair", "fenced", "rw", "pair", "permit", "plain")[int(span * 1000) % 7]
        if word in self.moving:  # two moves of one slot at once could give it to two primaries, which is no fault of Redis
            return
        self.moving.add(word)
        try:
            yield from self.move_slot(server, word, span)
        finally:
            self.moving.remove(word)

    def move_slot(self, server, word, span):
        slot = server.ask("CLUSTER", "KEYSLOT", word)
        if self.owner(server, slot) == server.ask("CLUSTER", "MYID"):
            server = self.servers[(self.servers.index(server) + 1) % 3]
        me, source = server.ask("CLUSTER", "MYID"), None
        while not source:
            source = next(
                (other for other in self.servers if self.owner(server, slot) == self.id_of(other)), None
            )
            yield 0.05
        yield from self.persuade(server, "SETSLOT", slot, "IMPORTING", self.id_of(source))
        yield from self.persuade(source, "SETSLOT", slot, "MIGRATING", me)
        yield span / 2
        while keys := self.try_to(source, "CLUSTER", "GETKEYSINSLOT", slot, 100):
            if isinstance(keys, list):
                self.try_to(
                    source, "MIGRATE", server.host.address, PORT, "", 0, 500, "REPLACE", "KEYS", *keys
                )
                yield 0.02
            else:
                yield 0.2
        for each in (server, source, *self.servers):
            yield from self.persuade(each, "SETSLOT", slot, "NODE", me)

    @staticmethod
    def try_to(server, *words):
        """The answer of the server; the text of the error if it does not answer."""
        try:
            return server.ask(*words)
        except Silent as silent:
            return str(silent)

    def id_of(self, server):
        return self.try_to(server, "CLUSTER", "MYID")

    def owner(self, server, slot):
        slots = self.try_to(server, "CLUSTER", "SLOTS")
        return (
            next((each[2][2] for each in slots if each[0] <= slot <= each[1]), None)
            if isinstance(slots, list)
            else None
        )

    def persuade(self, server, *words):
        """Repeats the command until it succeeds: the server may be killed or stopped now."""
        while self.try_to(server, "CLUSTER", *words) != "OK":
            yield 0.1

    def faults(self):
        return self.usual_faults() | {"slot moved": self.move}
