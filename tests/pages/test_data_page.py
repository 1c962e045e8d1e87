"""What the page Data asks of a file's owner, and what is proposed for each column."""

import io
from dataclasses import replace

import pandas as pd
import pytest
import xlsxwriter

from pages.ui.data.columns import EDITED, taken_as
from pages.ui.data.upload import _from_frame, _to_frame
from privcore.errors import DataError
from privcore.extras.lab.work import WIDE
from privcore.intake.proposing import LEAVE_OUT
from privcore.intake.schema import ColumnSchema
from tests.messages import label, says
from tests.pages.opening import TABLE, clean, labelled, open_page, open_table, press, titles

SURVEY = b"person,q1,q2,mood\n" + b"".join(
    b"%d,%d,%d,%s\n"
    % (
        i % 40,
        99 if i % 17 == 0 else 1 + i % 5,
        1 + (i * 7) % 5,
        [b"never", b"often", b"always"][i % 3],
    )
    for i in range(200)
)


def schema_of(app):
    return {column.name: column for column in app.session_state["upload_schema"]}


def topics(app):
    return {question.topic for question in app.session_state["upload"].dataset.questions}


def labels(app):
    pairs = zip(
        app.session_state["upload_schema"], app.session_state["upload_proposals"], strict=True
    )
    return {column.name: taken_as(column, proposal) for column, proposal in pairs}


def test_a_row_of_values_is_no_row_of_names_until_somebody_says_so():
    content = b"".join(b"%d,%s,%d\n" % (20 + i % 50, b"fm"[i % 2 :][:1], i % 2) for i in range(90))
    app = open_table(content)
    assert app.session_state["upload"].dataset.names == ("col_1", "col_2", "col_3")
    assert topics(app) == {"header"}
    press(app, label("first-row-of-values"))
    press(app, label("use-table"))
    assert topics(app) == set()
    assert app.session_state["upload"].dataset.n == 90
    app.button_group[-1].set_value(label("first-row-of-names")).run()
    press(app, label("use-table"))
    assert app.session_state["upload"].dataset.names == ("20", "f", "0")
    assert topics(app) == set()


def test_whose_rows_they_are_is_asked_and_nothing_is_taken_for_granted():
    app = open_table(SURVEY)
    who = labelled(app.radio, label("who-is-protected"))
    assert who.value is None
    assert topics(app) == {"persons"}
    assert not schema_of(app)["person"].include
    who.set_value(label("row-is-a-person")).run()
    press(app, label("use-table"))
    assert topics(app) == set()
    who = labelled(app.radio, label("who-is-protected"))
    who.set_value(label("rows-of-persons")).run()
    press(app, label("use-table"))
    assert topics(app) == set()
    assert app.session_state["upload"].dataset.unit.rows == 5


def test_the_page_release_says_what_is_to_be_said_on_data():
    app = open_table(SURVEY)
    clean(app.switch_page("pages/release.py").run())
    assert any("person" in warning.value for warning in app.warning)
    assert not any("--" in warning.value for warning in app.warning)


def test_one_click_takes_a_code_for_missing_values_back():
    app = open_table(SURVEY, use=False)
    assert schema_of(app)["q1"].writing.missing_codes == ("99",)
    (box,) = [box for box in app.checkbox if "99" in box.label]
    clean(box.uncheck().run())
    assert schema_of(app)["q1"].writing.missing_codes == ()
    assert "99" in schema_of(app)["q1"].levels
    (box,) = [box for box in app.checkbox if "99" in box.label]
    clean(box.check().run())
    assert "99" not in schema_of(app)["q1"].levels


def test_the_table_says_what_each_column_is_taken_as_and_measured_as():
    shown = open_table(SURVEY, use=False).dataframe[0].value.set_index("column")
    assert list(shown.columns) == ["taken as", "example values", "why", "measured as"]
    assert shown["taken as"].to_dict() == {
        "person": "left out",
        "q1": label("levels-in-order"),
        "q2": label("levels-in-order"),
        "mood": label("levels-in-order"),
    }
    assert shown["measured as"]["person"] == ""
    assert all(shown["measured as"][["q1", "q2", "mood"]])


def test_several_columns_are_changed_at_once():
    columns = {f"q{k}": [(i * (k + 1)) % 17 // 4 for i in range(120)] for k in range(14)}
    frame = pd.DataFrame(columns)
    app = open_table(frame.assign(free=["a", "b"] * 60).to_csv(index=False).encode(), use=False)
    clean(app.text_input(key="upload_filter").set_value("q1*").run())
    assert list(app.dataframe[0].value["column"]) == ["q1", "q10", "q11", "q12", "q13"]
    clean(app.selectbox(key="upload_take_all").set_value(LEAVE_OUT).run())
    press(app, "Apply")
    assert {name for name, label in labels(app).items() if label == LEAVE_OUT} == set(
        app.dataframe[0].value["column"]
    )
    # What a column cannot be is refused in one sentence, and changes nothing.
    clean(app.text_input(key="upload_filter").set_value("").run())
    clean(app.selectbox(key="upload_take_all").set_value(label("levels-in-order")).run())
    press(app, "Apply")
    assert len(app.error) == 1
    assert labels(app)["free"] == "levels"
    assert labels(app)["q1"] == label("levels-in-order")


def test_what_was_edited_is_called_so():
    app = open_table(SURVEY, use=False)
    schema = list(app.session_state["upload_schema"])
    at = next(k for k, column in enumerate(schema) if column.name == "mood")
    schema[at] = type(schema[at])("mood", "nominal", ("always", "never", "often", "(other)"))
    app.session_state["upload_schema"] = schema
    app.session_state["upload_edits"] += 1
    clean(app.run())
    assert labels(app)["mood"] == EDITED
    press(app, label("use-table"))
    assert "(other)" in app.session_state["upload"].dataset.columns[-1].levels


def test_a_file_loaded_beside_a_network_is_the_data_and_goes_to_discover():
    app = open_page("data", data="cancer")
    clean(app.file_uploader[0].upload("t.csv", TABLE, "text/csv").run())
    assert app.session_state["data"] == "your table"
    press(app, label("discover-graph"))
    assert app.session_state["upload"].dataset.names == ("sex", "age", "ill")
    assert {"Private graph"} <= set(titles(app))
    # What was loaded stays where a network is looked at in between.
    app.switch_page("pages/data.py").run()
    app.selectbox(key="data").set_value("cancer").run()
    assert not [b for b in app.button if b.label == label("discover-graph")]
    app.selectbox(key="data").set_value("your table").run()
    assert clean(app).session_state["upload"].dataset.n == 200
    assert [b for b in app.button if b.label == label("discover-graph")]


def test_letters_that_fit_several_encodings_are_asked_for_with_samples():
    content = ("年龄组,性别\n" + "青年,男\n中年,女\n老年,男\n" * 20).encode("gbk")
    app = open_table(content, use=False)
    raw = app.session_state["upload_raw"][1]
    names = [encoding for encoding, _ in raw.readings] or [raw.encoding]
    assert "gb18030" in names
    if raw.readings:
        press(app, "gb18030")
    assert list(schema_of(app)) == ["年龄组", "性别"]
    assert app.session_state["upload_raw"][1].encoding == "gb18030"


@pytest.mark.parametrize("first", ["table", "note"])
def test_a_sheet_is_chosen_also_where_the_first_holds_no_table(first):
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    if first == "note":
        book.add_worksheet("Note").write(0, 0, label("see-others"))
    for name in ("Spring", "Autumn"):
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, ["a", name])
        for i in range(30):
            sheet.write_row(i + 1, 0, [i % 2, i % 3])
    book.close()
    app = open_table(out.getvalue(), "t.xlsx", use=False)
    assert list(schema_of(app)) == ["a", "Spring"]
    chooser = labelled(app.selectbox, "Sheet")
    clean(chooser.set_value("Autumn").run())
    assert list(schema_of(app)) == ["a", "Autumn"]


@pytest.mark.long
def test_a_wide_table_is_narrowed_before_it_is_used():
    frame = pd.DataFrame({f"g{k}": [(i + k) % 3 for i in range(30)] for k in range(WIDE + 30)})
    app = open_table(frame.to_csv(index=False).encode(), use=False)
    press(app, label("use-table"))
    assert len(app.error) == 1
    assert "upload" not in app.session_state
    clean(app.number_input(key="upload_at_random").set_value(20).run())
    press(app, label("leave-others-out"))
    press(app, label("use-table"))
    assert app.session_state["upload"].dataset.p == 20


def test_cut_points_are_read_as_other_numbers_are():
    schema = [ColumnSchema("x", "continuous", (), cut_points=(1.0,))]
    frame = _to_frame(schema)
    frame.loc[0, "cut points"] = "1; 2.5;1e1"
    assert _from_frame(frame, schema)[0].cut_points == (1.0, 2.5, 10.0)
    for text in ("1_0", "1; ٢", "1;nan", "1;inf"):
        frame.loc[0, "cut points"] = text
        with pytest.raises(DataError, match=says("cut-points-are-numbers")):
            _from_frame(frame, schema)


def test_levels_of_a_column_with_gaps_are_as_read_from_the_rows():
    app = open_table(b"a,b\n" + b"1,2\n2,1\n,1\n2,2\n" * 60)
    assert app.table[0].value["comparison with these rows"].nunique() == 1
    app.session_state["upload_used"] = [
        replace(column, levels=("1", "2", "3")) if column.name == "a" else column
        for column in app.session_state["upload_used"]
    ]
    clean(app.run())
    assert app.table[0].value["comparison with these rows"].nunique() == 2


def test_a_column_that_repeats_another_is_named_and_left_out_with_one_click():
    rows = [(i % 2, (i * 7 % 11) % 2, i % 3) for i in range(300)]
    content = "sex,ill,group,gender\n" + "".join(
        f"{'mf'[a]},{b},{c},{('man', 'woman')[a]}\n" for a, b, c in rows
    )
    app = open_table(content.encode(), use=False)
    assert app.session_state["upload_repeats"][2] == {"gender": "sex"}
    clean(app.button(key="upload_repeat_gender").click().run())
    assert labels(app)["gender"] == LEAVE_OUT
    assert app.session_state["upload_repeats"][2] == {}
    assert not [button for button in app.button if button.key == "upload_repeat_gender"]


def test_a_table_without_repeats_names_none():
    assert open_table(SURVEY, use=False).session_state["upload_repeats"][2] == {}
