#!/usr/bin/env python3
"""Plants violations in histories: the checker must see each of them, and nothing else."""

import unittest

import history


def record(**more):
    return {
        "outcome": "ran",
        "exit": 0,
        "command_exit": 0,
        "command_signal": None,
        "fence": None,
        "released": "yes",
        **more,
    }


class Story:
    """A history whose times are in milliseconds."""

    def __init__(self):
        self.events = []

    def say(self, at, event, **more):
        self.events.append({"t": at * 1_000_000, "e": event, **more})
        return self

    def run(
        self,
        name,
        enter,
        leave,
        end=None,
        *,
        key="k",
        mode="x",
        type="lock",
        fence=None,
        status=0,
        alone=True,
        beats=(),
        told=None,
        parent=None,
        strict=False,
        exit_status=None,
        start=None,
        script=False,
        once=0,
    ):
        start = (enter or 10) - 5 if start is None else start
        self.say(
            start,
            "start",
            run=name,
            deployment="d",
            type=type,
            lease=1000,
            parent=parent,
            strict=strict,
            script=script,
            once=once,
        )
        if enter is not None:
            self.say(enter, "enter", run=name, key=key, mode=mode, fence=fence, alone=alone)
        for beat in beats:
            self.say(beat, "inside", run=name, key=key)
        if leave is not None:
            self.say(leave, "leave", run=name, key=key, status=status)
        if end is not None:
            told = record(exit=status, command_exit=status, fence=fence) if told is None else told
            self.say(end, "end", run=name, status=status if exit_status is None else exit_status, record=told)
        return self

    def lapse(self, begin, end, **more):
        return self.say(
            end,
            "lapse",
            deployment="d",
            why="lapse",
            **{"from": begin * 1_000_000, "to": end * 1_000_000},
            **more,
        )

    def judge(self):
        return history.judge(self.events)


class Exclusion(unittest.TestCase):
    def test_one_after_the_other_is_right(self):
        verdict = Story().run("a", 10, 20, 25).run("b", 21, 30, 35).judge()
        self.assertEqual((verdict.holds, verdict.violations, verdict.excused), (2, [], []))

    def test_an_overlap_is_caught(self):
        self.assertRegex(
            Story().run("a", 10, 20, 25).run("b", 19, 30, 35).judge().violations[0],
            "overlap of 1.0 ms: a .* b",
        )

    def test_a_long_one_overlaps_with_each_that_comes_meanwhile(self):
        verdict = Story().run("a", 10, 90, 95).run("b", 20, 30, 35).run("c", 40, 50, 55).judge()
        self.assertEqual(len(verdict.violations), 2)

    def test_a_killed_holder_was_inside_until_its_last_sign_of_life(self):
        verdict = (
            Story()
            .run(
                "a",
                10,
                None,
                60,
                beats=[30, 50],
                told=record(command_exit=None, command_signal=9, exit=137),
                exit_status=-9,
            )
            .run("b", 45, 70, 75)
            .judge()
        )
        self.assertRegex(verdict.violations[0], "overlap of 5.0 ms")

    def test_readers_share_and_a_writer_does_not(self):
        self.assertEqual(
            Story().run("a", 10, 30, 35, mode="s").run("b", 20, 40, 45, mode="s").judge().violations, []
        )
        self.assertEqual(
            len(Story().run("a", 10, 30, 35, mode="s").run("b", 20, 40, 45).judge().violations), 1
        )

    def test_another_key_is_another_lock(self):
        self.assertEqual(
            Story().run("a", 10, 30, 35).run("b", 20, 40, 45, key="other").judge().violations, []
        )

    def test_a_hold_inside_its_own_is_none_of_two_but_a_stranger_beside_it_is(self):
        story = Story().run("a", 10, 50, 55).run("a.1", 20, 40, parent="a", mode="in")
        self.assertEqual(story.judge().violations, [])
        self.assertEqual(len(story.run("b", 30, 60, 65).judge().violations), 2)

    def test_the_kernel_sees_somebody_who_writes_nothing(self):
        verdict = (
            Story()
            .run(
                "a", 10, None, 60, told=record(command_exit=None, command_signal=9, exit=137), exit_status=-9
            )
            .run("b", 40, 50, 55, alone=False)
            .judge()
        )
        self.assertRegex(verdict.violations[0], "the kernel says that b .* is not alone")


class Excuses(unittest.TestCase):
    def test_a_lapse_excuses_for_the_lease_of_who_held_before(self):
        verdict = Story().run("a", 10, 900, 905).lapse(100, 120).run("b", 130, 200, 205).judge()
        self.assertEqual((verdict.violations, len(verdict.excused)), ([], 1))

    def test_a_lapse_excuses_no_longer_than_a_lease(self):
        verdict = Story().run("a", 10, 1500, 1505).lapse(100, 120).run("b", 1000, 1300, 1305).judge()
        self.assertEqual(len(verdict.violations), 1)

    def test_a_lapse_excuses_nobody_who_came_before_it_or_after(self):
        self.assertEqual(
            len(Story().run("a", 10, 90, 95).run("b", 20, 80, 85).lapse(100, 120).judge().violations), 1
        )
        self.assertEqual(
            len(Story().lapse(1, 2).run("a", 10, 90, 95).run("b", 20, 80, 85).judge().violations), 1
        )

    def test_who_had_the_lock_before_the_lapse_may_say_so_after_it(self):
        verdict = Story().lapse(100, 120).run("a", 125, 900, 905, start=90).run("b", 130, 200, 205).judge()
        self.assertEqual((verdict.violations, len(verdict.excused)), ([], 1))

    def test_another_deployments_lapse_is_no_excuse(self):
        story = Story().run("a", 10, 900, 905).lapse(100, 120).run("b", 130, 200, 205)
        next(event for event in story.events if event["e"] == "lapse")["deployment"] = "other"
        self.assertEqual(len(story.judge().violations), 1)

    def test_who_asked_for_replicas_is_not_excused_by_a_failover(self):
        story = (
            Story()
            .run("a", 10, 900, 905, strict=True)
            .lapse(100, 120, replicated=True)
            .run("b", 130, 200, 205, strict=True)
        )
        self.assertEqual(len(story.judge().violations), 1)

    def test_a_machine_that_runs_nobody_is_an_excuse(self):
        story = Story().run("a", 10, 50, 55).run("b", 45, 60, 65)
        story.say(50, "starved", **{"from": 30_000_000, "to": 50_000_000})
        self.assertEqual((story.judge().violations, len(story.judge().excused)), ([], 1))


class Order(unittest.TestCase):
    def fences(self, first, second, lapse=None):
        story = (
            Story()
            .run("a", 10, 20, 25, type="fenced", fence=first)
            .run("b", 30, 40, 45, type="fenced", fence=second)
        )
        return (story.lapse(*lapse) if lapse else story).judge().violations

    def test_fences_grow(self):
        self.assertEqual(self.fences(1, 2), [])

    def test_the_same_fence_twice_or_a_smaller_one_is_caught(self):
        self.assertRegex(self.fences(2, 2)[0], "fence 2 of b .* after 2 of a")
        self.assertRegex(self.fences(2, 1)[0], "fence 1 of b .* after 2 of a")

    def test_a_lapse_between_them_excuses(self):
        self.assertEqual(self.fences(2, 1, lapse=(21, 29)), [])


class Truth(unittest.TestCase):
    def of(self, enter=10, leave=20, hurt=None, **more):
        story = Story()
        if hurt:
            story.say(9, "hurt", run="a", who=hurt[0], signal=hurt[1])
        story.run("a", enter, leave, 25, **more)
        return story.judge().violations

    def lie(self, said, **more):
        self.assertRegex("\n".join(self.of(**more)), said)

    def test_what_is_true_is_not_a_lie(self):
        self.assertEqual(self.of(), [])
        self.assertEqual(self.of(status=7), [])
        self.assertEqual(
            self.of(
                enter=None,
                leave=None,
                told=record(outcome="busy", exit=75, command_exit=None),
                exit_status=75,
            ),
            [],
        )
        self.assertEqual(
            self.of(
                leave=None,
                told=record(outcome="lost", exit=125, command_exit=None, command_signal=15),
                exit_status=125,
            ),
            [],
        )

    def test_a_run_that_was_killed_owes_no_record(self):
        self.assertEqual(self.of(hurt=("rlock", 9), told=None, exit_status=-9), [])

    def test_a_command_that_is_interrupted_while_it_starts_is_never_inside(self):
        self.assertEqual(
            self.of(enter=None, leave=None, hurt=("rlock", 2), told=record(exit=1, command_exit=1), exit_status=1), []
        )

    def test_each_lie_is_caught(self):
        self.lie("ends otherwise than its record", exit_status=3)
        self.lie(
            "says busy, and its command was inside", told=record(outcome="busy", exit=75), exit_status=75
        )
        self.lie("lost its lock and ends as if not", told=record(outcome="lost"))
        self.lie("says 125 and has lost nothing", told=record(exit=125), exit_status=125)
        self.lie("who never was inside", enter=None, leave=None)
        self.lie("by itself, which it did not", leave=None)
        self.lie("otherwise than with 7", status=7, told=record(), exit_status=0)
        self.lie("names another fence", type="fenced", fence=4, told=record(fence=3))
        self.lie("was killed by a signal that its record does not name", exit_status=-15)

    def test_a_command_that_goes_on_is_caught(self):
        self.lie("its command goes on", leave=30)

    def test_no_record_is_caught(self):
        story = Story().run("a", 10, 20)
        self.assertEqual(story.judge().violations, ["a does not end"])
        story.say(30, "end", run="a", status=0, record=None)
        self.assertEqual(story.judge().violations, ["a ended with 0 and no record"])


class Once(unittest.TestCase):
    def test_two_successes_in_the_time_of_one(self):
        story = Story().run("a", 100, 200, 210, once=1000).run("b", 900, 950, 960, once=1000)
        self.assertEqual(len(story.judge().violations), 1)

    def test_later_or_after_a_failure_it_may_run_again(self):
        later = Story().run("a", 100, 200, 210, once=1000).run("b", 1300, 1350, 1360, once=1000)
        self.assertEqual(later.judge().violations, [])
        failed = Story().run("a", 100, 200, 210, once=1000, status=7).run("b", 300, 350, 360, once=1000)
        self.assertEqual(failed.judge().violations, [])

    def test_a_server_that_forgot_lets_it_run_again(self):
        story = Story().run("a", 100, 200, 210, once=1000).lapse(300, 310).run("b", 400, 450, 460, once=1000)
        self.assertEqual(story.judge().violations, [])


class Scripts(unittest.TestCase):
    def test_a_script_has_no_record(self):
        story = Story().run("a", 100, 200, 210, script=True, told=False)
        self.assertEqual(story.judge().violations, [])

    def test_a_script_that_got_no_lock_was_not_inside(self):
        story = Story().run("a", 100, 200, 210, script=True, told=False, exit_status=75)
        self.assertEqual(len(story.judge().violations), 1)

    def test_a_script_whose_holder_was_killed_does_not_say_that_all_went_well(self):
        story = Story().run("a", 100, None, 210, script=True, told=False, beats=(120,), exit_status=0)
        self.assertEqual(len(story.judge().violations), 1)


if __name__ == "__main__":
    unittest.main()
