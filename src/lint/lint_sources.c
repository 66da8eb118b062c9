/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_sources.h"

#include <string.h>

#define API_SOURCE "envoy.config.core.v3.ApiConfigSource"

/* Each subscription to a file is an inotify instance of its own, of which a user gets 128 unless
 * fs.inotify.max_user_instances says otherwise; Envoy has some more, for its threads and files. */
#define FILES_MOST 100

static void look_for_delay(struct lint_look *look, const struct message *source)
{
	if (lint_is_enum(source, "api_type", "REST") && !lint_field(source, "refresh_delay"))
		lint_say(look, source, "refresh_delay",
			"a source of type REST needs it: the time between two polls");
}

static void look_at_api_version(struct lint_look *look, const struct message *message)
{
	if (lint_field(message, "http_service"))
		return; /* it speaks no protocol that has versions */
	if (!lint_is_enum(message, "transport_api_version", "V3"))
		lint_say(look, message, "transport_api_version",
			"V3 is the one version that there is; say so");
}

static void look_at_path(struct lint_look *look, const struct message *message)
{
	static const char *const barred[] = {"/dev/", "/proc/", "/sys/"};
	struct slice path = lint_text(message, "path");

	if (!path.length)
		return;
	if (!memchr(path.data, '/', path.length)) {
		lint_say(look, message, "path", "a path without \"/\": Envoy cannot watch it");
		return;
	}
	for (size_t i = 0; i < sizeof(barred) / sizeof(barred[0]); i++)
		if (path.length > strlen(barred[i]) &&
			strncmp(path.data, barred[i], strlen(barred[i])) == 0)
			lint_say(look, message, "path", "Envoy reads no configuration below %s",
				barred[i]);
	lint_keep(look, message, "path", FACT_FILE_SUBSCRIPTION, 0, path);
}

static void total_of_files(struct lint_judge *judge, size_t names, const struct lint_user *first)
{
	if (names > FILES_MOST)
		lint_judge_say(judge, first,
			"this and %zu other files are watched by each Envoy of the group, one "
			"inotify instance each; fs.inotify.max_user_instances is 128 by default, "
			"and without one Envoy ends",
			names - 1);
}

static const char *const api_sources[] = {API_SOURCE, NULL};
static const char *const versioned[] = {API_SOURCE, "envoy.config.metrics.v3.MetricsServiceConfig",
	"envoy.config.ratelimit.v3.RateLimitServiceConfig",
	"envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig",
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz", NULL};
static const char *const paths[] = {
	"envoy.config.core.v3.ConfigSource", "envoy.config.core.v3.PathConfigSource", NULL};

const struct lint lint_sources[] = {
	{.rule = "refresh-delay",
		.level = DIAG_ERROR,
		.types = api_sources,
		.look = look_for_delay},
	{.rule = "transport-api-version",
		.level = DIAG_WARNING,
		.types = versioned,
		.look = look_at_api_version},
	{.rule = "bad-config-path", .level = DIAG_ERROR, .types = paths, .look = look_at_path},
	{.rule = "many-config-files",
		.level = DIAG_WARNING,
		.kind = FACT_FILE_SUBSCRIPTION,
		.total = total_of_files},
	{0},
};
