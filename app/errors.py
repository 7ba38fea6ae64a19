"""Everything that can go wrong, as one tree. Each class carries its HTTP status, a stable code and a sentence.

    AnimeBoothError
    |-- RequestError                 the request itself is at fault: the sender can mend it
    |   |-- InvalidOption            400  invalid-option
    |   |-- UnknownOption            400  unknown-option
    |   |-- MissingImage             400  missing-image
    |   |-- EmptyImage               400  empty-image
    |   |-- TooManyImages            400  too-many-images
    |   |-- ImageInTextField         400  image-in-text-field
    |   |-- BadRequest               400  bad-request
    |   |-- Unauthorized             401  unauthorized
    |   |-- Forbidden                403  forbidden
    |   |-- NotFound                 404  not-found
    |   |-- MethodNotAllowed         405  method-not-allowed
    |   |-- FileTooLarge             413  file-too-large
    |   |-- TooManyPixels            413  too-many-pixels
    |   |-- TooLargeToDraw           413  too-large-to-draw
    |   |-- UnsupportedImage         415  unsupported-image
    |   |-- BrokenImage              422  broken-image
    |   |-- NoFaceFound              422  no-face-found
    |   `-- RateLimited              429  rate-limited
    |-- ServiceError                 the service is at fault, or busy: the same request may succeed later
    |   |-- InternalError            500  internal-error
    |   |-- Overloaded               503  overloaded
    |   |-- DeadlineExceeded         503  deadline-exceeded
    |   |-- NotReady                 503  not-ready
    |   |-- FacesUnavailable         503  faces-unavailable
    |   `-- StyleUnavailable         503  style-unavailable
    |-- ClientGone                   499  client-gone
    `-- ModelError                   a weight file or models.toml is unusable: told at the start
        `-- NoUsableStyle            no style at all can be served: ends the start

A sentence is a format string; its fields are the keyword arguments of the class's constructor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

from app.i18n import DEFAULT_LANGUAGE, Language

Sentences = Mapping[Language, str]

ACCEPTED_FORMATS = "JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF, HEIC"
"""What a person may send, in words. ``imaging.decode`` holds the list that decides."""


class AnimeBoothError(Exception):
    """Root of the tree. ``str(error)`` is the English sentence."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal-error"
    sentences: ClassVar[Sentences] = MappingProxyType({})
    retry_after: int | None = None
    """Whole seconds after which the same request is worth sending again, or None."""

    def __init__(self, **fields: object) -> None:
        self.fields = fields
        super().__init__(self.sentence(DEFAULT_LANGUAGE))

    def sentence(self, language: Language) -> str:
        """What a person reads, in ``language``. It names no path and no library."""
        template = self.sentences.get(language) or self.sentences[DEFAULT_LANGUAGE]
        return template.format(**self.fields)


class RequestError(AnimeBoothError):
    """The sender can mend it."""

    status = 400
    code = "bad-request"


class InvalidOption(RequestError):
    """An option's value is not one of those allowed."""

    code = "invalid-option"
    sentences = {
        "en": "Option “{option}” cannot be “{value}”. Allowed: {allowed}.",
        "zh": "选项“{option}”不能是“{value}”。可用：{allowed}。",
        "ja": "オプション「{option}」に「{value}」は使えません。使えるもの：{allowed}。",
    }

    def __init__(self, *, option: str, value: str, allowed: str) -> None:
        # What was sent is echoed for the person who mistyped it, not for whoever sends a megabyte.
        super().__init__(option=_shortened(option), value=_shortened(value), allowed=allowed)


class UnknownOption(RequestError):
    """There is no option of that name."""

    code = "unknown-option"
    sentences = {
        "en": "There is no option “{option}”. Options: {allowed}.",
        "zh": "没有“{option}”这个选项。可用选项：{allowed}。",
        "ja": "オプション「{option}」はありません。使えるもの：{allowed}。",
    }

    def __init__(self, *, option: str, allowed: str) -> None:
        super().__init__(option=_shortened(option), allowed=allowed)


class MissingImage(RequestError):
    """Neither a file field named ``image`` nor a picture as the body."""

    code = "missing-image"
    sentences = {
        "en": "No picture arrived. Send it as the form field “image”, or as the body of the request.",
        "zh": "没有收到图片。请用表单字段“image”上传，或直接作为请求正文发送。",
        "ja": "画像が届いていません。フォームの「image」欄か、リクエスト本文で送ってください。",
    }


class EmptyImage(RequestError):
    """The file has no bytes."""

    code = "empty-image"
    sentences = {
        "en": "The file in “image” is empty. Choose the picture again.",
        "zh": "“image”中的文件是空的。请重新选择图片。",
        "ja": "「image」のファイルが空です。画像を選び直してください。",
    }


class TooManyImages(RequestError):
    """More than one picture in one request."""

    code = "too-many-images"
    sentences = {
        "en": "Several pictures arrived. Send one “image” per request.",
        "zh": "收到多张图片。每次请求请只发送一个“image”。",
        "ja": "画像が複数届きました。1 回のリクエストで送れる「image」は 1 枚です。",
    }


class ImageInTextField(RequestError):
    """The picture was sent as text, for example base64."""

    code = "image-in-text-field"
    sentences = {
        "en": "“image” arrived as text. Send the picture as a file, not as text or base64.",
        "zh": "“image”是文本。请以文件形式发送图片，不要用文本或 base64。",
        "ja": "「image」が文字列で届きました。文字列や base64 ではなく、ファイルとして送ってください。",
    }


class BadRequest(RequestError):
    """The request cannot be read as HTTP or as a form."""

    sentences = {
        "en": "The request could not be understood.",
        "zh": "无法理解该请求。",
        "ja": "リクエストを解釈できませんでした。",
    }


class Unauthorized(RequestError):
    """The service wants a key and got none, or a wrong one."""

    status = 401
    code = "unauthorized"
    sentences = {
        "en": "This service needs a key. Send it as “Authorization: Bearer KEY”.",
        "zh": "此服务需要密钥。请以“Authorization: Bearer 密钥”发送。",
        "ja": "このサービスには鍵が必要です。「Authorization: Bearer 鍵」で送ってください。",
    }


class Forbidden(RequestError):
    """For the owner of the service, who has set no key for others to show."""

    status = 403
    code = "forbidden"
    sentences = {
        "en": "This is for the owner: on the machine itself, or with the key once ANIMEBOOTH_API_KEY sets one.",
        "zh": "此内容仅供服务的所有者查看：请在本机上打开，或设置 ANIMEBOOTH_API_KEY 后凭密钥访问。",
        "ja": "持ち主だけが見られます。サーバー本体で開くか、ANIMEBOOTH_API_KEY を設定して鍵で開いてください。",
    }


class NotFound(RequestError):
    """No such page."""

    status = 404
    code = "not-found"
    sentences = {
        "en": "There is nothing at this address.",
        "zh": "此地址没有内容。",
        "ja": "このアドレスには何もありません。",
    }


class MethodNotAllowed(RequestError):
    """The address exists, the method does not fit."""

    status = 405
    code = "method-not-allowed"
    sentences = {
        "en": "This address does not take {method}. Allowed: {allowed}.",
        "zh": "此地址不接受 {method}。可用：{allowed}。",
        "ja": "このアドレスは {method} を受け付けません。使えるもの：{allowed}。",
    }

    def __init__(self, *, method: str, allowed: str) -> None:
        super().__init__(method=_shortened(method), allowed=allowed)


class FileTooLarge(RequestError):
    """More bytes than the limit."""

    status = 413
    code = "file-too-large"
    sentences = {
        "en": "The file is larger than {limit_mib} MiB. Send a smaller one.",
        "zh": "文件超过 {limit_mib} MiB。请发送更小的文件。",
        "ja": "ファイルが {limit_mib} MiB を超えています。小さくして送ってください。",
    }

    def __init__(self, *, limit_mib: int) -> None:
        super().__init__(limit_mib=limit_mib)


class TooManyPixels(RequestError):
    """The header claims more pixels, or a longer side, than the limit."""

    status = 413
    code = "too-many-pixels"
    sentences = {
        "en": "The picture is {width} × {height} px. At most {limit_mp} megapixels and {limit_side} px a side.",
        "zh": "图片为 {width} × {height} 像素。最多 {limit_mp} 百万像素，每边最多 {limit_side} 像素。",
        "ja": "画像は {width} × {height} px です。上限は {limit_mp} メガピクセル、1 辺 {limit_side} px です。",
    }

    def __init__(self, *, width: int, height: int, limit_mp: int, limit_side: int) -> None:
        super().__init__(width=width, height=height, limit_mp=limit_mp, limit_side=limit_side)


class TooLargeToDraw(RequestError):
    """Drawing this picture at this size takes more memory than the service may have."""

    status = 413
    code = "too-large-to-draw"
    sentences = {
        "en": "Drawing this picture at this size takes more memory than this server has. Choose a smaller size.",
        "zh": "以此尺寸绘制这张图片所需的内存超出了本服务器的限度。请选择更小的尺寸。",
        "ja": "この画像をこのサイズで描くには、サーバーのメモリが足りません。小さいサイズを選んでください。",
    }


class UnsupportedImage(RequestError):
    """The bytes are no picture of an accepted kind."""

    status = 415
    code = "unsupported-image"
    sentences = {
        "en": f"This is not a picture we can read. Send one of: {ACCEPTED_FORMATS}.",
        "zh": f"无法读取这种文件。可用格式：{ACCEPTED_FORMATS}。",
        "ja": f"この種類の画像は読めません。使える形式：{ACCEPTED_FORMATS}。",
    }


class BrokenImage(RequestError):
    """An accepted kind, but cut short or damaged."""

    status = 422
    code = "broken-image"
    sentences = {
        "en": "The picture is damaged or incomplete. Try to save or send it again.",
        "zh": "图片已损坏或不完整。请重新保存或发送。",
        "ja": "画像が壊れているか、途中で切れています。保存し直すか、もう一度送ってください。",
    }


class NoFaceFound(RequestError):
    """A portrait was asked for (``face=only``) and there is no face."""

    status = 422
    code = "no-face-found"
    sentences = {
        "en": "No face was found to make a portrait of. Try “face=auto” for the whole picture.",
        "zh": "没有找到可用于头像的人脸。可用“face=auto”转换整张图片。",
        "ja": "ポートレートにする顔が見つかりません。「face=auto」で画像全体を変換できます。",
    }


class RateLimited(RequestError):
    """One client sends faster than allowed."""

    status = 429
    code = "rate-limited"
    sentences = {
        "en": "Too many pictures in a short time. Wait {seconds} s and try again.",
        "zh": "短时间内请求过多。请等待 {seconds} 秒后再试。",
        "ja": "短い時間に送りすぎです。{seconds} 秒待ってからもう一度どうぞ。",
    }

    def __init__(self, *, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class ServiceError(AnimeBoothError):
    """Not the sender's fault; the same request may succeed later."""

    status = 503
    code = "service-unavailable"


class InternalError(ServiceError):
    """A bug. The log has the trace; the answer has none of it."""

    status = 500
    code = "internal-error"
    sentences = {
        "en": "Something went wrong on our side. The picture was not kept.",
        "zh": "我们这边出了问题。图片没有被保留。",
        "ja": "こちら側で問題が起きました。画像は保存していません。",
    }


class Overloaded(ServiceError):
    """As many requests inside as may be."""

    code = "overloaded"
    sentences = {
        "en": "Too many people are waiting. Try again in {seconds} s.",
        "zh": "排队的人太多。请在 {seconds} 秒后再试。",
        "ja": "混み合っています。{seconds} 秒後にもう一度どうぞ。",
    }

    def __init__(self, *, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class DeadlineExceeded(ServiceError):
    """The work took longer than one request may."""

    code = "deadline-exceeded"
    retry_after = 10
    sentences = {
        "en": "The picture took longer than {seconds} s. Try a smaller size, or later.",
        "zh": "处理超过了 {seconds} 秒。请换小一点的尺寸，或稍后再试。",
        "ja": "処理が {seconds} 秒を超えました。サイズを小さくするか、後でもう一度どうぞ。",
    }

    def __init__(self, *, seconds: float) -> None:
        super().__init__(seconds=f"{seconds:g}")


class NotReady(ServiceError):
    """Still starting."""

    code = "not-ready"
    retry_after = 2
    sentences = {
        "en": "The service is still starting. Try again in a moment.",
        "zh": "服务正在启动。请稍后再试。",
        "ja": "サービスは起動中です。少し待ってからもう一度どうぞ。",
    }


class FacesUnavailable(ServiceError):
    """A portrait was asked for, and the face detector could not be loaded here."""

    code = "faces-unavailable"
    sentences = {
        "en": "Faces cannot be found on this server, so no portrait can be cut out. “face=off” works.",
        "zh": "此服务器无法检测人脸，因此不能生成头像。可用“face=off”。",
        "ja": "このサーバーでは顔を検出できないため、ポートレートは作れません。「face=off」は使えます。",
    }


class StyleUnavailable(ServiceError):
    """The style is listed, but its weights are unusable here."""

    code = "style-unavailable"
    sentences = {
        "en": "Style “{style}” is not available on this server at the moment. Choose another.",
        "zh": "此服务器暂时不能使用风格“{style}”。请选择其他风格。",
        "ja": "スタイル「{style}」は今このサーバーでは使えません。別のものを選んでください。",
    }

    def __init__(self, *, style: str) -> None:
        super().__init__(style=style)


class ClientGone(AnimeBoothError):
    """Whoever asked has closed the connection: the work is dropped, and only logs and metrics see this."""

    status = 499
    code = "client-gone"
    sentences = {
        "en": "Nobody waits for this picture any more.",
        "zh": "已经没有人在等这张图片了。",
        "ja": "この画像を待っている人はもういません。",
    }


class ModelError(AnimeBoothError):
    """Told to the owner at the start, in one English sentence; never sent to a client."""

    status = 503
    code = "model-error"
    sentences = {"en": "{reason}"}

    def __init__(self, reason: str) -> None:
        super().__init__(reason=reason)
        self.reason = reason


class NoUsableStyle(ModelError):
    """Not one style can be served, for these ``reasons``: sentences, told once where several styles share one."""

    code = "no-usable-style"

    def __init__(self, reasons: Iterable[str]) -> None:
        super().__init__(" ".join(dict.fromkeys(reasons)) or "There are no styles: models.toml names none.")


def _shortened(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
