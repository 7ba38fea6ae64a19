"""Settings are read once from ANIMEBOOTH_* variables; what does not fit is named."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from app.config import PREFIX, PROJECT_ROOT, SettingError, Settings
from app.inference.session import PROVIDERS
from app.options import MAX_SIZE, MIN_SIZE


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_each_setting_is_read_in_its_own_type() -> None:
    settings = Settings.from_environment(
        {
            "ANIMEBOOTH_MODELS_DIR": "weights",
            "ANIMEBOOTH_STYLE": "hayao",
            "ANIMEBOOTH_SIZE": "512",
            "ANIMEBOOTH_DEADLINE": "2.5",
        }
    )
    assert settings.models_dir == Path("weights")
    assert (settings.style, settings.size, settings.deadline) == ("hayao", 512, 2.5)


def test_other_programs_variables_are_left_alone() -> None:
    assert Settings.from_environment({"PORT": "9000", "SIZE": "x"}) == Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANIMEBOOTH_SIZE", "big"),
        ("ANIMEBOOTH_SIZE", "63"),
        ("ANIMEBOOTH_SIZE", "4097"),
        ("ANIMEBOOTH_VARIANT", "fp8"),
        ("ANIMEBOOTH_PROVIDER", "gpu"),
        ("ANIMEBOOTH_THREADS", "-1"),
        ("ANIMEBOOTH_MAX_REQUESTS", "0"),
        ("ANIMEBOOTH_DEADLINE", "0"),
        ("ANIMEBOOTH_DEADLINE", "nan"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_setting(name: str, value: str) -> None:
    with pytest.raises(SettingError) as caught:
        Settings.from_environment({name: value})
    assert name in str(caught.value)
    assert value in str(caught.value)


def test_what_the_settings_repeat_is_what_the_service_takes() -> None:
    """The master process reads them and must stay small, so that they import nothing of it."""
    for provider in PROVIDERS:
        assert Settings.from_environment({"ANIMEBOOTH_PROVIDER": provider}).provider == provider
    for size in (MIN_SIZE, MAX_SIZE):
        assert Settings.from_environment({"ANIMEBOOTH_SIZE": str(size)}).size == size
    for size in (MIN_SIZE - 1, MAX_SIZE + 1):
        with pytest.raises(SettingError):
            Settings.from_environment({"ANIMEBOOTH_SIZE": str(size)})


def test_reading_them_loads_no_heavy_library() -> None:
    script = (
        "import sys, app.config, app.serving.worker; sys.exit(not {'numpy', 'flask', 'cv2'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=False).returncode == 0


def test_a_misspelt_setting_is_refused_rather_than_ignored() -> None:
    with pytest.raises(SettingError, match="ANIMEBOOTH_SIZZE is no setting"):
        Settings.from_environment({"ANIMEBOOTH_SIZZE": "512"})


def test_every_setting_says_what_it_is_for() -> None:
    for item in fields(Settings):
        assert item.metadata["help"].strip().endswith("."), PREFIX + item.name.upper()
