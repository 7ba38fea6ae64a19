"""The command line finds what to convert, names the answers, and writes each all or nothing."""

from pathlib import Path

import pytest

from app.batch import Job, Names, find_jobs, write_whole


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for name in ("b.jpg", "a.png", "sub/c.heic", "sub/.hidden.jpg", ".git/d.jpg", "a-anime.png", "notes.txt"):
        file = tmp_path / "album" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    return tmp_path / "album"


def sources(jobs: list[Job], below: Path) -> list[str]:
    return [job.source.relative_to(below).as_posix() for job in jobs]


def test_a_folder_is_searched_to_the_bottom_in_order_without_hidden_files_and_earlier_answers(album: Path) -> None:
    assert sources(find_jobs([album], None), album) == ["a.png", "b.jpg", "notes.txt", "sub/c.heic"]


def test_answers_go_beside_each_file(album: Path) -> None:
    assert {job.folder for job in find_jobs([album], None)} == {album, album / "sub"}


def test_answers_go_into_the_out_folder_with_the_folders_below_repeated(album: Path, tmp_path: Path) -> None:
    folders = {job.source.name: job.folder for job in find_jobs([album], tmp_path / "out")}
    assert folders["a.png"] == tmp_path / "out"
    assert folders["c.heic"] == tmp_path / "out" / "sub"


def test_an_out_folder_inside_the_searched_one_is_not_searched(album: Path) -> None:
    (album / "sub" / "out").mkdir()
    (album / "sub" / "out" / "old.jpg").write_bytes(b"x")
    assert "sub/out/old.jpg" not in sources(find_jobs([album], album / "sub" / "out"), album)


def test_a_file_named_twice_is_converted_once(album: Path) -> None:
    assert len(find_jobs([album / "b.jpg", album / "b.jpg", album], None)) == 4


def test_a_file_that_is_named_is_taken_whatever_it_is_called(album: Path) -> None:
    jobs = find_jobs([album / "a-anime.png", album / "sub" / ".hidden.jpg"], None)
    assert sources(jobs, album) == ["a-anime.png", "sub/.hidden.jpg"]
    assert all(job.named for job in jobs)


def test_two_photos_of_one_name_get_two_answers(tmp_path: Path) -> None:
    names = Names()
    jobs = [Job(tmp_path / name, tmp_path, named=False) for name in ("IMG_1.HEIC", "IMG_1.JPG")]
    assert [names.target(job, ".jpg").name for job in jobs] == ["IMG_1-anime.jpg", "IMG_1-2-anime.jpg"]


def test_an_answer_is_written_with_its_folder_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "x.png", b"picture")
    assert (tmp_path / "new" / "x.png").read_bytes() == b"picture"
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["x.png"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x.png").mkdir()
    with pytest.raises(OSError, match=r"x\.png"):
        write_whole(tmp_path / "x.png", b"picture")
    assert [file.name for file in tmp_path.iterdir()] == ["x.png"]
