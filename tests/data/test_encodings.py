"""Tables in the encodings of the world: the right letters, or the right ones among the readings."""

import time

import pytest

from privcore.errors import DataError
from privcore.intake import decoding
from privcore.intake.decoding import ENCODINGS, Decoded, decode

# A header and levels as people write them; the encoding is found.
FOUND = [
    ("gb18030", "年龄组,性别,吸烟\n青年,男,是\n中年,女,否\n老年,男,否\n"),
    ("big5", "年齡組,性別,吸菸\n青年,男,是\n中年,女,否\n老年,男,否\n"),
    ("shift_jis", "年齢層,性別,喫煙\n若年,男性,はい\n高齢,女性,いいえ\n"),
    ("shift_jis", "氏名,ﾌﾘｶﾞﾅ\n佐藤,ｻﾄｳ\n髙橋,ﾀｶﾊｼ\n"),
    # The second byte of a letter here is that of "|".
    ("shift_jis", "サポート|ポイント\nあり|高い\nなし|低い\n"),
    ("euc_jp", "年齢層,性別,喫煙\n若年,男性,はい\n高齢,女性,いいえ\n"),
    ("euc_kr", "연령대,성별,흡연\n청년,남자,예\n노년,여자,아니오\n"),
    ("cp1251", "возраст,пол,Город\nмолодой,муж,Москва\nпожилой,жен,Казань\n"),
    ("koi8-r", "возраст,пол,Город\nмолодой,муж,Москва\nпожилой,жен,Казань\n"),
    ("cp1251", "вік,стать\nмолодий,чоловік\nлітній,жінка\n"),
    ("cp1253", "ηλικία,φύλο\nνέος,άνδρας\nηλικιωμένος,γυναίκα\n"),
    ("cp1250", "wiek,płeć\nśredni,mężczyzna\nniski,kobieta\n"),
    ("cp1250", "pohlaví,kouření\nmuž,ano\nžena,ne\n"),
    ("cp1250", "életkor,nem\nidős,férfi\nfiatal,nő\n"),
    ("cp1250", "vârstă,sex\ntânăr,bărbat\nadult,femeie\n"),
    ("cp1252", "Größe,Geschlecht\ngroß,männlich\nklein,weiblich\n"),
    ("cp1252", "âge,région\nâgé,Île-de-France\njeune,Rhône\n"),
    ("cp1252", "educação,fumante\nbásico,não\nmédio,sim\n"),
    ("cp1252", "age,café\n1,no\n2,yes\n"),
    ("mac_roman", "âge,région\nâgé,Île-de-France\njeune,Rhône\n"),
    ("cp1254", "yaş,sigara\ngenç,hayır\nyaşlı,evet\n"),
    ("cp1255", "מין,עישון,השכלה\nזכר,כן,יסודית\nנקבה,לא,תיכונית\n"),
    ("cp1256", "العمر,الجنس\nشاب,ذكر\nمسن,أنثى\n"),
    ("cp1257", "amžius,rūko\njaunas,taip\nvyresnis žmogus,ne\n"),
    ("cp1257", "dzimums,smēķē,izglītība\nvīrietis,jā,vidējā\nsieviete,nē,augstākā\n"),
]
# One word in the whole file: it may be read otherwise, and the page shows both.
OFFERED = [
    ("gb18030", "职业,id\n1,2\n3,4\n"),  # also UTF-8, of letters of no language
    ("gb18030", "age,city\n1,北京\n2,x\n"),
    ("euc_jp", "性別,収入\n1,2\n2,1\n"),
    ("koi8-r", "ОЦЕНКА,a\n1,2\n2,1\n"),
    ("cp1254", "a,b\nhayır,1\nevet,2\n"),
    ("cp1250", "a,b\nnő,1\nx,2\n"),
    ("cp1255", "צ׳מורו,קזחסטן,אסאמית,קורונה,צ׳כית\n1,2,3,4,5\n"),
    ("mac_roman", "a,b\n1990–2000,1\nx,2\n"),
]


def written(text: str, encoding: str) -> bytes:
    return text.encode({"shift_jis": "cp932"}.get(encoding, encoding))


@pytest.mark.parametrize(("encoding", "text"), FOUND)
@pytest.mark.parametrize("rows", [1, 300])
def test_the_letters_are_right(encoding, text, rows):
    header, rest = text.split("\n", 1)
    text = f"{header}\n{rest * rows}"
    decoded = decode(written(text, encoding))
    assert (decoded.encoding, decoded.text) == (encoding, text)


@pytest.mark.parametrize(("encoding", "text"), [*FOUND, *OFFERED])
def test_whatever_is_offered_can_be_chosen(encoding, text):
    content = written(text, encoding)
    decoded = decode(content)
    offered = [e for e, _ in decoded.readings] or [decoded.encoding]
    assert decoded.encoding == offered[0]
    assert text in [decode(content, e).text for e in offered]
    assert len({decode(content, e).text for e in offered}) == len(offered) <= 6


def test_samples_are_the_same_words_in_each_reading_and_the_header_first():
    text = FOUND[0][1]
    readings = dict(decode(text.encode("gbk")).readings)
    assert readings.pop("gb18030") == ("年龄组", "性别", "吸烟")
    assert readings
    for encoding, sample in readings.items():
        assert sample == tuple(w.encode("gbk").decode(encoding) for w in ("年龄组", "性别", "吸烟"))


def test_samples_tell_every_two_readings_apart():
    samples = [
        sample for _, sample in decode("a,ä\nnő,hayır\nx,y\n".encode("cp1250", "ignore")).readings
    ]
    assert len(samples) > 1
    assert len(set(samples)) == len(samples)


@pytest.mark.parametrize("text", ["a,b\n1,2\n2,1\n", "性别,a\n男,1\n女,2\n", "Āa\u3000,b\n1,2\n"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_is_certain(text, encoding):
    assert decode(text.encode(encoding)) == Decoded(text, encoding)


def test_marks_of_either_order():
    for order, mark in (("le", b"\xff\xfe\x00\x00"), ("be", b"\x00\x00\xfe\xff")):
        assert decode(mark + "a,é\n".encode(f"utf-32-{order}")) == Decoded("a,é\n", "utf-32")


@pytest.mark.parametrize("word", ["é", "naïve", "Ольга", "10 °C", "日本"])
def test_one_word_of_utf_8_is_certain(word):
    assert decode(f"a,b\n{word},1\n".encode()) == Decoded(f"a,b\n{word},1\n", "utf-8")


def test_the_first_word_may_come_late_and_words_are_not_counted_twice():
    late = b"a,b\n" + b"1,2\n" * 200_000 + "возраст,Москва\n".encode("cp1251")
    assert decode(late).encoding == "cp1251"
    # A frequent word does not hide the rare ones that tell.
    text = "a|b\n" + "".join(f"ano|{i}í\n" for i in range(3000)) + "muž|příjem\n"
    assert decode(text.encode("cp1250")).text == text


def test_an_encoding_that_fails_beyond_the_sample_is_not_taken(monkeypatch):
    monkeypatch.setattr(decoding, "_SAMPLE", 100)
    content = "Größe,Maß,männlich,größer,Öl,gemäß,Bärbel,Jürgen,Straße,Füße\n".encode("cp1252") * 2
    assert decode(content).readings == ()
    # The likely one has no such letter.
    decoded = decode(content + b"\x81,2\n")
    assert decoded.text == (content + b"\x81,2\n").decode(decoded.encoding)


@pytest.mark.parametrize("name", ["latin-1", "gbk", "UTF8", "Windows-1251", *ENCODINGS])
def test_any_encoding_of_text_can_be_wanted(name):
    assert decode("a,b\n1,2\n".encode(name), name) == Decoded("a,b\n1,2\n", name)


@pytest.mark.parametrize("name", ["klingon", "", "hex", "a\0b", "rot13"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(DataError) as caught:
        decode(b"a,b\n1,2\n", name)
    assert all(e in str(caught.value) for e in ENCODINGS)


@pytest.mark.parametrize("wanted", [None, "latin-1"])
def test_nul_bytes_here_and_there_are_no_text(wanted):
    for content in (b"a,b\n" + b"1,2\n" * 500 + b"\0,1\n", b"a\0\0b" * 50, b"\0" * 40):
        with pytest.raises(DataError):
            decode(content, wanted)


def test_a_large_table_takes_no_time():
    content = b"age,city\n" + b"25,control\n" * 1_000_000 + "münchen\n".encode() * 100_000
    started = time.process_time()
    assert decode(content).encoding == "utf-8"
    # The time of a search word by word is 20 times as long.
    assert time.process_time() - started < 0.3
