"""Login, health, metrics, the console."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/sessions/", include("allauth.usersessions.urls")),
    path("", include("jobs.console.urls")),
]
handler400 = "jobs.console.views.errors.bad_request"
handler403 = "jobs.console.views.errors.forbidden"
handler404 = "jobs.console.views.errors.not_found"
handler500 = "jobs.console.views.errors.server_error"
handler429 = "jobs.console.views.errors.too_many"
