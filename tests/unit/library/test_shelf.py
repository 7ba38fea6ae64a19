"""Styles go on the shelf, and come off it, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ModelError
from app.library.shelf import check_new_id, copy_weights, new_style, remove_style, sha256_of, style_id
from tests.unit.inference.test_added import put


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


class TestAnId:
    @pytest.mark.parametrize(
        ("file", "made"),
        [
            ("AnimeGANv3_Hayao_36", "animeganv3_hayao_36"),
            ("My Style (v2)", "my-style-v2"),
            ("--x--", "x"),
            ("あ", ""),
            ("a" * 100, "a" * 64),
        ],
    )
    def test_is_made_of_a_name(self, file: str, made: str) -> None:
        assert style_id(file) == made

    @pytest.mark.parametrize("name", ["", "../evil", "a/b", ".hidden", "-x", "Großer", "a" * 65, "a b"])
    def test_that_could_be_a_path_or_an_option_is_refused(self, models_dir: Path, name: str) -> None:
        with pytest.raises(ModelError, match=r"is no id: .* Give --id\."):
            check_new_id(models_dir, name)

    @pytest.mark.parametrize("name", ["hayao", "portrait"])
    def test_of_a_built_in_style_is_refused(self, models_dir: Path, name: str) -> None:
        with pytest.raises(ModelError, match=f"There is a style called {name} already"):
            check_new_id(models_dir, name)

    def test_of_an_added_style_is_refused_even_if_that_is_broken(self, models_dir: Path) -> None:
        (models_dir / "added" / "mine").mkdir(parents=True)
        with pytest.raises(ModelError, match="There is a style called mine already"):
            check_new_id(models_dir, "mine")


class TestANewStyle:
    def test_appears_when_it_is_whole(self, models_dir: Path) -> None:
        with new_style(models_dir, "mine") as folder:
            (folder / "card.toml").write_text("whole")
            assert not (models_dir / "added" / "mine").exists()
        assert names(models_dir / "added") == ["mine"]
        assert (models_dir / "added" / "mine" / "card.toml").read_text() == "whole"

    @pytest.mark.parametrize("error", [ModelError("no"), OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_leaves_nothing_behind_where_it_fails(self, models_dir: Path, error: BaseException) -> None:
        def build() -> None:
            with new_style(models_dir, "mine") as folder:
                (folder / "half").write_text("half")
                raise error

        with pytest.raises(type(error)):
            build()
        assert not (models_dir / "added").exists()

    def test_that_fails_leaves_the_others(self, models_dir: Path) -> None:
        put(models_dir, "other")
        with pytest.raises(ModelError), new_style(models_dir, "mine"):
            raise ModelError("no")
        assert names(models_dir / "added") == ["other"]

    def test_that_someone_else_added_first_stays_theirs(self, models_dir: Path) -> None:
        with pytest.raises(ModelError, match="someone else added it"), new_style(models_dir, "mine"):
            put(models_dir, "mine")
        assert names(models_dir / "added") == ["mine"]
        assert (models_dir / "added" / "mine" / "card.toml").exists()


class TestRemoving:
    def test_takes_an_added_style_and_no_other(self, models_dir: Path) -> None:
        put(models_dir, "mine")
        put(models_dir, "other")
        remove_style(models_dir, "mine")
        assert names(models_dir / "added") == ["other"]

    def test_takes_a_broken_one_too(self, models_dir: Path) -> None:
        (put(models_dir, "mine") / "card.toml").write_text("[broken")
        remove_style(models_dir, "mine")
        assert names(models_dir / "added") == []

    @pytest.mark.parametrize("name", ["hayao", "cute"])
    def test_spares_what_is_built_in(self, models_dir: Path, name: str) -> None:
        with pytest.raises(ModelError, match="is built in; only added styles can be removed"):
            remove_style(models_dir, name)

    @pytest.mark.parametrize("name", ["mine", "..", "../added", ".", ""])
    def test_spares_what_is_no_style(self, models_dir: Path, name: str) -> None:
        put(models_dir, "other")
        with pytest.raises(ModelError, match="No added style is called"):
            remove_style(models_dir, name)
        assert names(models_dir / "added") == ["other"]

    def test_spares_what_another_style_stands_in(self, models_dir: Path) -> None:
        put(models_dir, "land")
        put(models_dir, "selfie", kind="face", surroundings="land")
        with pytest.raises(ModelError, match="is drawn around the faces of selfie: remove that first"):
            remove_style(models_dir, "land")
        remove_style(models_dir, "selfie")
        remove_style(models_dir, "land")

    def test_of_a_link_leaves_what_it_points_to(self, models_dir: Path, tmp_path: Path) -> None:
        put(models_dir, "mine")
        (models_dir / "added" / "mine").rename(tmp_path / "elsewhere")
        (models_dir / "added" / "mine").symlink_to(tmp_path / "elsewhere")
        remove_style(models_dir, "mine")
        assert names(models_dir / "added") == []
        assert (tmp_path / "elsewhere" / "card.toml").exists()


def test_a_copy_is_the_same_file_and_its_sha256_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    digest = copy_weights(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()
    assert digest == sha256_of(tmp_path / "b")
