"""`effect`, and `release` with one, as a script sees them."""

import json
import re

import pytest

from privcore.data import load_network
from privcore.intake.samples import SAMPLES
from tests.messages import begins, says, shows

ASIA = "--network asia --rows 50000 --epsilon 1"
SMOKE = "--cause smoke --outcome lung"


@pytest.mark.long
def test_an_effect_in_words_and_as_json(report, printed):
    words = printed(f"effect {ASIA} {SMOKE}")
    assert begins(
        words, "setting-changes", cause="smoke", low="no", high="yes", outcome="lung = yes"
    )
    assert shows(words, "if-nothing-points", cause="smoke", amount="+9")
    assert shows(words, "in-the-network", amount="+9.0")
    assert shows(words, "never-to-release")
    said = report(f"effect {ASIA} {SMOKE} --json")
    assert {"parents", "adjustment", "estimate", "interval"} <= set(said["effects"][0])
    low, high = said["interval"]
    assert low <= 0.09 <= high
    assert said["not_private"]["truth"] == pytest.approx(0.09)
    assert said["guarantee"]["epsilon"] == 1


@pytest.mark.long
def test_levels_and_a_share_are_taken(report):
    said = report(f"effect {ASIA} {SMOKE} --to no --level no --effect-share 0.5 --json")
    assert (said["compared"], said["to"], said["level"], said["share"]) == ("yes", "no", "no", 0.5)
    assert said["parameters"]["epsilon"] == pytest.approx(0.5)
    assert said["guarantee"]["epsilon"] == 1


def test_what_is_known_settles_the_effect_of_a_sample_with_simpson_s_paradox(printed):
    words = printed(
        "effect --sample treatment --cause treatment --outcome recovered --from old --to new"
        " --epsilon 1 --tiers age_class,ward;severity;treatment;recovered"
    )
    assert shows(words, "raises-probability", outcome="recovered = yes")
    assert shows(words, "adjusted-for", columns="severity")
    # Without adjustment it is the other way round.
    lines = SAMPLES["treatment"].path.read_text("utf-8").splitlines()[1:]
    by = {name: [] for name in ("old", "new")}
    for line in lines:
        *_, treatment, recovered = line.split(",")
        by[treatment].append(recovered == "yes")
    assert sum(by["new"]) / len(by["new"]) < sum(by["old"]) / len(by["old"])


CLINIC = (
    "effect --sample clinic --intervals none --drop systolic_bp --cause age"
    " --outcome length_of_stay"
    " --tiers age,sex;smoker,bmi,admission_date;admission_type;length_of_stay;readmitted_30d"
    " --epsilon 3"
)


def test_a_number_has_an_effect_in_its_unit(printed):
    """Years of age on days in hospital: .095 days a year by least squares on the exact rows."""
    words = printed(f"{CLINIC} --from 40 --to 80")
    assert shows(words, "counted-the-numbers")
    assert shows(words, "share-of-numbers")
    assert "--effect-share 0.5" in words
    report = json.loads(printed(f"{CLINIC} --from 40 --to 80 --effect-share 0.5 --json"))
    assert (report["compared"], report["to"], report["level"]) == ("40", "80", None)
    low, high = report["interval"]
    (exact,) = report["not_private"]["without_privacy"]
    assert exact["estimate"] == pytest.approx(3.8, abs=0.05)
    assert low < 3.8 < high < 5
    assert report["guarantee"]["epsilon"] == 3
    assert report["guarantee"]["delta"] == report["parameters"]["delta"] * 2 == 1e-6


@pytest.mark.long
def test_a_release_has_the_effect_in_its_certificate(printed, tmp_path):
    ledger = f"--ledger {tmp_path / 'ledger.db'}"
    printed(f"ledger total clinic --epsilon 2 --delta 1e-5 {ledger}")
    words = printed(
        f"release {ASIA} {SMOKE} --algorithm moment-search --effect-share 0.4"
        f" --budget-name clinic --out {tmp_path} {ledger}"
    )
    # The noise is secure: what is said of the effect depends on the graph.
    assert "lung" in words
    assert "spent epsilon 1," in words
    path = next(tmp_path.glob("certificate-*.json"))
    certificate = json.loads(path.read_text("utf-8"))
    told = certificate["released"]["effects"]
    assert (told["cause"], told["outcome"], told["share"]) == ("smoke", "lung", 0.4)
    assert certificate["mechanism"]["planned"][-1]["kind"] == "discrete laplace"
    assert certificate["guarantee"]["epsilon"] == 1
    assert shows(printed(f"verify {path}"), "planned-steps-cost", epsilon=1)
    page = next(tmp_path.glob("certificate-*.html")).read_text("utf-8")
    assert "lung" in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"effect {ASIA} --cause smoke --outcome cough", says("no-such-column", name="cough")),
        (f"effect {ASIA} --cause smoke --outcome smoke", says("cause-and-outcome-the-same")),
        (f"effect {ASIA} {SMOKE} --to maybe", says("no-such-level", level="maybe")),
        (f"effect {ASIA} {SMOKE} --effect-share 2", "effect-share"),
        (f"{CLINIC} --from 40", says("two-values-of-cause", name="age")),
        (f"{CLINIC} --from 40 --to old", says("two-values-of-cause", name="age")),
        (f"{CLINIC} --from 40 --to 400", says("value-outside-bounds", name="age", value=400)),
        (f"{CLINIC} --level 3", says("no-levels-of-numbers", name="length_of_stay")),
        (f"release {ASIA} --algorithm laplace-pc {SMOKE} --budget-name b", "choose"),
        (
            f"release {ASIA} --algorithm moment-search --cause smoke --budget-name b",
            says("effect-needs-columns"),
        ),
    ],
)
def test_bad_input_gets_one_sentence(refused, tmp_path, words, told):
    ledger = f"--ledger {tmp_path / 'l.db'}" if words.startswith("release") else ""
    assert re.search(told, refused(f"{words} {ledger}"))
    assert not (tmp_path / "l.db").exists()


@pytest.mark.long
def test_every_column_of_a_network_can_be_asked_about(printed):
    """Questions without sense are answered, too."""
    names = load_network("cancer").names
    for outcome in names[1:]:
        asked = f"--cause {names[0]} --outcome {outcome}"
        assert printed(f"effect --network cancer --rows 5000 {asked}")
