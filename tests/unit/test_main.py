"""The command line over files, folders and pipes, with a network that answers with the negative."""

import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from app.__main__ import main
from app.engine import Engine
from tests.unit.stubs import Workshop, case, parts, photo, pixels, png

PICTURE = photo(80, 64)


def run(*arguments: object, stdin: bytes | None = None, workshop: Workshop | None = None) -> Result:
    command = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, command, input=stdin, obj=lambda: Engine(parts(workshop)), catch_exceptions=False)


@pytest.fixture
def album(tmp_path: Path) -> Path:
    (tmp_path / "album" / "sub").mkdir(parents=True)
    (tmp_path / "album" / "one.png").write_bytes(png(PICTURE))
    (tmp_path / "album" / "sub" / "two.jpg").write_bytes(case("exif_o6.jpg"))
    (tmp_path / "album" / "notes.txt").write_text("no picture")
    return tmp_path / "album"


def names(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_a_file_is_converted_beside_itself(album: Path) -> None:
    result = run("convert", album / "one.png")
    assert result.exit_code == 0
    assert np.array_equal(pixels((album / "one-anime.png").read_bytes()), 255 - PICTURE)


def test_a_single_picture_may_go_to_a_file_of_any_name(album: Path, tmp_path: Path) -> None:
    assert run("convert", album / "one.png", "-o", tmp_path / "new" / "me.png").exit_code == 0
    assert names(tmp_path / "new") == ["me.png"]


@pytest.mark.parametrize(("name", "format"), [("me.jpg", "JPEG"), ("me.JPEG", "JPEG"), ("me.webp", "WEBP")])
def test_a_file_named_for_the_answer_is_of_the_kind_its_name_says(
    album: Path, tmp_path: Path, name: str, format: str
) -> None:
    assert run("convert", album / "one.png", "-o", tmp_path / name).exit_code == 0
    assert run("convert", "-", "-o", tmp_path / f"piped-{name}", stdin=png(PICTURE)).exit_code == 0
    for file in (tmp_path / name, tmp_path / f"piped-{name}"):
        with Image.open(file) as picture:
            assert picture.format == format


def test_the_kind_asked_for_counts_more_than_a_name(album: Path, tmp_path: Path) -> None:
    assert run("convert", album / "one.png", "-o", tmp_path / "me.jpg", "--format", "png").exit_code == 0
    with Image.open(tmp_path / "me.jpg") as picture:
        assert picture.format == "PNG"


def test_a_folder_is_converted_to_the_bottom_and_what_is_no_picture_is_named_at_the_end(
    album: Path, tmp_path: Path
) -> None:
    result = run("convert", album, "-o", tmp_path / "out", "--size", "256")
    assert result.exit_code == 0
    assert names(tmp_path / "out") == ["one-anime.png", "sub/two-anime.jpg"]
    assert "skipped" in result.stderr
    assert "notes.txt" in result.stderr
    assert "2 converted, 1 skipped" in result.stderr
    assert pixels((tmp_path / "out" / "sub" / "two-anime.jpg").read_bytes()).shape == (256, 192, 3)


def test_a_second_run_keeps_what_is_there(album: Path) -> None:
    run("convert", album)
    (album / "one-anime.png").write_bytes(b"mine")
    result = run("convert", album)
    assert result.exit_code == 0
    assert "2 kept, 1 skipped" in result.stderr
    assert (album / "one-anime.png").read_bytes() == b"mine"


def test_a_named_file_whose_answer_exists_fails_and_is_kept(album: Path) -> None:
    (album / "one-anime.png").write_bytes(b"mine")
    result = run("convert", album / "one.png")
    assert result.exit_code == 1
    assert "--force overwrites it" in result.stderr
    assert (album / "one-anime.png").read_bytes() == b"mine"


def test_force_overwrites(album: Path) -> None:
    (album / "one-anime.png").write_bytes(b"mine")
    assert run("convert", album / "one.png", "--force").exit_code == 0
    assert (album / "one-anime.png").read_bytes() != b"mine"


def test_a_broken_picture_fails_and_the_others_are_converted(album: Path) -> None:
    (album / "cut.jpg").write_bytes(case("trunc_60pct.jpg"))
    result = run("convert", album)
    assert result.exit_code == 1
    assert "damaged or incomplete" in result.stderr
    assert "one-anime.png" in names(album)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_devices_in_a_folder_are_skipped_and_not_read(album: Path) -> None:
    os.mkfifo(album / "pipe.jpg")
    (album / "zeros.jpg").symlink_to("/dev/zero")
    result = run("convert", album)
    assert result.exit_code == 0
    assert "2 converted, 3 skipped" in result.stderr


def test_a_link_to_itself_fails_alone(album: Path) -> None:
    (album / "round.jpg").symlink_to("round.jpg")
    result = run("convert", album, "-o", album / "out")
    assert result.exit_code == 1
    assert "2 converted, 1 skipped, 1 failed" in result.stderr


def test_a_pipe_into_a_place_that_takes_no_file_ends_in_a_sentence(tmp_path: Path) -> None:
    result = run("convert", "-", "-o", tmp_path, "--force", stdin=png(PICTURE))
    assert result.exit_code == 1
    assert f"{tmp_path}: " in result.stderr


def test_of_a_film_beside_the_photos_only_the_beginning_is_read(album: Path) -> None:
    with (album / "film.mp4").open("wb") as film:
        film.write(b"\0\0\0\x18ftypisom")
        film.truncate(1 << 40)
    result = run("convert", album, "--format", "png")
    assert result.exit_code == 0
    assert "2 converted, 2 skipped" in result.stderr


def test_a_folder_that_may_not_be_searched_fails_by_name(album: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def forbidding(path: str) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", forbidding)
    result = run("convert", album)
    assert result.exit_code == 1
    assert f"failed: {album / 'sub'}: Permission denied" in result.stderr
    assert "1 converted, 1 skipped, 1 failed" in result.stderr


def test_a_file_that_is_not_there_fails(tmp_path: Path) -> None:
    result = run("convert", tmp_path / "missing.jpg")
    assert result.exit_code == 1
    assert "No such file" in result.stderr


def test_nothing_converted_at_all_is_a_failure(album: Path) -> None:
    assert run("convert", album / "notes.txt").exit_code == 1


def test_a_pipe_gives_the_picture_and_nothing_else() -> None:
    result = run("convert", "-", "--format", "png", stdin=png(PICTURE))
    assert result.exit_code == 0
    assert np.array_equal(pixels(result.stdout_bytes), 255 - PICTURE)


def test_a_pipe_that_brings_no_picture_fails_in_words() -> None:
    result = run("convert", "-", stdin=b"no picture")
    assert (result.exit_code, result.stdout_bytes) == (1, b"")
    assert "not a picture" in result.stderr


def test_a_pipe_stands_alone(album: Path) -> None:
    assert run("convert", "-", album / "one.png", stdin=png(PICTURE)).exit_code == 2


@pytest.mark.parametrize(
    ("option", "value"), [("--style", "monet"), ("--size", "9999"), ("--strength", "much"), ("--quality", "0")]
)
def test_a_wrong_option_is_refused_with_what_is_allowed(album: Path, option: str, value: str) -> None:
    result = run("convert", album, option, value)
    assert result.exit_code == 2
    assert "Allowed" in result.stderr
    assert names(album) == ["notes.txt", "one.png", "sub/two.jpg"]


def test_an_engine_that_cannot_start_ends_in_a_sentence(album: Path) -> None:
    result = run("convert", album, workshop=Workshop(failing={"hayao", "cute"}))
    assert result.exit_code == 1
    assert "it is broken" in result.stderr
    assert "Traceback" not in result.output


def test_styles_are_listed_with_their_licence() -> None:
    result = run("styles")
    assert result.exit_code == 0
    assert "hayao" in result.stdout
    assert "non-commercial" in result.stdout
