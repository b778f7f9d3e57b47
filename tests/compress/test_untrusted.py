"""An onnx/ folder from outside: nothing beyond it is read, and what is wrong is said in a line."""

import json

import onnx
import pytest
from onnx import TensorProto, helper

from heldout.compress.files import check_onnx, find_onnx
from heldout.compress.runtime import load_onnx
from heldout.errors import Refused
from heldout.records import read_card
from heldout.runs import read_json
from heldout.tasks import load_task


def outside(path, location, *, inside_a_branch=False):
    """A model that keeps a weight in a file of this name."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value=location)
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    node = helper.make_node("Identity", ["w"], ["y"])
    if inside_a_branch:
        branch = helper.make_graph([helper.make_node("Identity", ["w"], ["z"])], "b", [], [value], [weight])
        condition = helper.make_tensor("c", TensorProto.BOOL, [], [True])
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
        graph = helper.make_graph(nodes, "g", [], [value], [condition])
    else:
        graph = helper.make_graph([node], "g", [], [value], [weight])
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret"])
@pytest.mark.parametrize("inside_a_branch", [False, True])
def test_weights_outside_of_the_folder_are_refused(tmp_path, location, inside_a_branch):
    (tmp_path / "secret").write_bytes(b"1234")
    (tmp_path / "onnx").mkdir()
    path = outside(tmp_path / "onnx" / "model.onnx", location, inside_a_branch=inside_a_branch)
    with pytest.raises(Refused, match="outside of its folder"):
        check_onnx(path)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "secret").write_bytes(b"1234")
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "weights").symlink_to(tmp_path / "secret")
    with pytest.raises(Refused, match="outside of its folder"):
        check_onnx(outside(tmp_path / "onnx" / "model.onnx", "weights"))


def test_weights_beside_the_model_are_read_and_missing_ones_named(tmp_path):
    path = outside(tmp_path / "model.onnx", "model.onnx.data")
    with pytest.raises(Refused, match="which is not there"):
        check_onnx(path)
    (tmp_path / "model.onnx.data").write_bytes(b"1234")
    check_onnx(path)


def test_operators_of_unknown_domains_and_files_that_are_no_model_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Run", ["x"], ["y"], domain="evil.code")], "g", [value], [value])
    onnx.save(helper.make_model(graph), str(path))
    with pytest.raises(Refused, match=r"'evil\.code'"):
        check_onnx(path)
    path.write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(Refused, match=r"is no ONNX model|holds no operators"):
        check_onnx(path)
    path.write_bytes(b"")
    with pytest.raises(Refused, match="holds no operators"):
        check_onnx(path)


def test_a_folder_of_no_model_or_of_two_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"holds no \*\.onnx"):
        find_onnx(tmp_path)
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(Refused, match=r"holds 2 models \(a\.onnx, b\.onnx\)"):
        find_onnx(tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("tokenizer.json", lambda text: "{}", "is no tokenizer"),
        ("tokenizer_config.json", lambda text: text.replace('"[PAD]"', '"[NONE]"'), "names no pad token"),
        ("config.json", lambda text: json.dumps(json.loads(text) | {"id2label": None}), "its labels have no names"),
        ("config.json", lambda text: json.dumps([1]), "has no id2label"),
        ("config.json", lambda text: text.replace("positive", "cheerful"), "its labels are not the card's"),
    ],
)
def test_what_stands_beside_the_model_is_checked(exported, copy_of, name, change, said):
    folder = copy_of(exported)
    path = folder / "onnx" / name
    path.write_text(change(path.read_text()))
    card = read_card(folder / "card.json")
    with pytest.raises(Refused, match=said):
        load_onnx(folder / "onnx", load_task("sentiment", card), card, read_json(folder / "options.json"))
