"""The lessons' values against ../shared/seed_values.json: all of them, and none of the mistakes that it lists."""


def test_together_the_lessons_compute_every_entry_of_the_seeds(seeds, computed):
    assert len(seeds) == 87
    assert computed.keys() == seeds.keys()


def test_every_value_is_within_its_tolerance(seeds, computed, near):
    wrong, looked_at = [], 0
    for id, entry in seeds.items():
        for field, expected in entry["expected"].items():
            looked_at += 1
            found = computed[id].get(field)
            if not near(found, expected["value"], expected["tol"]):
                wrong.append((id, field, found, expected["value"]))
    assert wrong == []
    assert looked_at >= 300


def test_every_mistake_that_its_field_catches_would_fail(seeds, computed, near):
    passing, looked_at = [], 0
    for id, entry in seeds.items():
        for trap in entry["traps"]:
            expected = entry["expected"].get(trap["field"])
            if trap["caught_by_field"] and expected and trap.get("gives") is not None:
                looked_at += 1
                tolerance = expected["tol"]
                if near(trap["gives"], expected["value"], tolerance) or near(
                    trap["gives"], computed[id][trap["field"]], tolerance
                ):
                    passing.append((id, trap["field"], trap["mistake"]))
    assert passing == []
    assert looked_at == 258 + 18


def test_the_properties_that_were_run_are_the_seeds_own_and_hold(seeds, computed):
    holds = computed["meta.property_checks"]["holds"]
    assert list(holds) != [] and set(holds) == set(seeds["meta.property_checks"]["property"])
    assert [claim for claim, held in holds.items() if not held] == []
