"""One choice of what the private graph is judged against, and what noise costs."""

import pytest

from pages.ui.controls.algorithm import SEED
from pages.ui.discover import runs
from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.display.report import price_sentence
from privcore.display.sentences import link_count
from privcore.measures import compare, skeleton_metrics
from privcore.measures.references import non_private_reference, references_of
from tests.messages import label, shows
from tests.pages.opening import TABLE, clean, metric, open_page, open_table, press, start, titles

SWEEP = {
    "data": "cancer",
    "rows": "1000",
    "sweep_algorithms": "svt-pc",
    "sweep_density": "1",
    "sweep_seeds": "3",
}


@pytest.fixture(scope="module")
def made():
    dataset = load_network("asia").sample(10_000, 1)
    source = count(dataset)
    result = discover(source, "svt-pc", {"epsilon": 1.0}, seed=SEED)
    usual = non_private_reference(source, result)
    same = non_private_reference(source, result, reference="same")
    return result, same, references_of(dataset, result, non_private=usual, same=same)


def opened(**query):
    return start(data="asia", rows="10000", algorithm="svt-pc", **query)


def choose(app, kind):
    app.button_group(key="discover_reference").set_value(kind).run()
    return clean(app)


def test_the_same_algorithm_stands_beside_and_is_the_measure(made):
    result, same, _ = made
    app = choose(opened(), "same")
    assert titles(app) == ["Private graph", label("without-noise", algorithm="SVT-PC")]
    assert metric(app, "Skeleton F1") == f"{skeleton_metrics(result.graph, same.graph).f1:.3f}"
    right, wanted, _ = link_count(compare(result.graph, same.graph, ""))
    assert shows(app.title[0].value, "links-of", links=wanted - right, all=wanted, name="SVT-PC")
    app = choose(app, "non_private")
    assert titles(app) == ["Private graph", label("graph-without-privacy")]
    app = choose(app, "truth")
    assert titles(app) == ["Private graph", label("graph-without-privacy")]


def test_the_address_keeps_the_choice():
    app = opened(discover_reference=label("same-without-noise"))
    assert app.button_group(key="discover_reference").value == "same"
    app = opened(discover_reference="non-private PC")
    assert app.button_group(key="discover_reference").value == "non_private"


def test_both_prices_are_told_of_few_columns(made):
    result, _, references = made
    price = price_sentence(result, references)
    assert price
    assert opened().title[0].value.endswith(price)


def test_another_seed_of_the_noise_needs_no_other_run_without_noise(monkeypatch):
    made = []
    inner = runs.non_private_reference

    def counted(*arguments, **options):
        made.append(options.get("reference"))
        return inner(*arguments, **options)

    monkeypatch.setattr(runs, "non_private_reference", counted)
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    app = choose(app, "same")
    assert made.count("same") == 1
    app.session_state["seed"] = 2
    clean(app.run())
    assert made.count("same") == 1


def test_a_table_without_truth_has_the_others():
    answers = (",".join(str(1 + i * k % 5) for k in (1, 2, 3, 7, 11, 13)) for i in range(300))
    app = open_table("\n".join(["a,b,c,d,e,f", *answers]).encode())
    app.switch_page("pages/discover.py").run()
    choice = clean(app).button_group(key="discover_reference")
    assert choice.value == "non_private"
    # Moment search summarises these columns, so its own test is another than PC's; its numbers also
    # answer for a graph of the user's own.
    assert len(choice.options) == 4
    assert titles(choose(app, "same"))[1] == label("without-noise", algorithm="Moment search")


def test_the_truth_of_other_data_does_not_go_along_into_the_url():
    app = start()
    assert app.button_group(key="discover_reference").value == "truth"
    app.switch_page("pages/data.py").run()
    app.file_uploader[0].upload("t.csv", TABLE, "text/csv").run()
    press(app, "Discover its graph")
    assert app.button_group(key="discover_reference").value == "non_private"
    assert "discover_reference" not in app.query_params


def test_a_run_without_privacy_has_no_choice():
    app = start(data="asia", rows="1000", algorithm="pc")
    assert "discover_reference" not in [group.key for group in app.button_group]


def plans(app):
    return [sweep.plan.same for sweep in app.session_state["_sweeps"].values()]


def test_a_sweep_compares_with_it_where_that_is_chosen():
    app = open_page("tradeoff", **SWEEP)
    assert plans(app) == [False]
    app.button_group(key="sweep_reference").set_value("same").run()
    assert plans(clean(app)) == [False, True]
    app = open_page("tradeoff", **SWEEP, sweep_reference=label("same-without-noise"))
    assert app.button_group(key="sweep_reference").value == "same"
    assert plans(clean(app.run())) == [True]
