/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_admission.h"

#include <stdio.h>

#include "base/text.h"

#define SHOWN_BYTES 80
#define FEATURES    64 /* more are not looked at; clients have a handful */

static struct slice text_of(const json_t *node, const char *name, const char *camel_name)
{
	const json_t *value = json_object_get(node, name);

	if (!value)
		value = json_object_get(node, camel_name);
	if (!json_is_string(value))
		return SLICE("");
	return (struct slice){json_string_value(value), json_string_length(value)};
}

static struct xds_client client_of(const json_t *node)
{
	const json_t *list = json_object_get(node, "client_features");
	struct slice features[FEATURES];
	size_t count = 0, index;
	const json_t *feature;

	if (!list)
		list = json_object_get(node, "clientFeatures");
	json_array_foreach((json_t *)list, index, feature)
	{
		if (json_is_string(feature) && count < FEATURES)
			features[count++] = (struct slice){
				json_string_value(feature), json_string_length(feature)};
	}
	return xds_client_of(text_of(node, "user_agent_name", "userAgentName"), features, count);
}

struct xds_admission xds_admission_of(const struct selector *selector, const json_t *node)
{
	struct xds_admission admission = {.status = XDS_STATUS_OK, .group = -1};

	if (!selector) {
		admission.status = XDS_STATUS_UNAVAILABLE;
		snprintf(admission.problem, sizeof(admission.problem),
			"there is no configuration yet");
		return admission;
	}
	admission.group = selector_select(selector, node);
	if (node)
		admission.client = client_of(node);
	if (admission.group < 0 && !node) {
		admission.status = XDS_STATUS_INVALID_ARGUMENT;
		snprintf(admission.problem, sizeof(admission.problem),
			"the first message has no node");
	} else if (admission.group < 0) {
		struct buf id = BUF_INIT, cluster = BUF_INIT;

		text_quote(&id, text_of(node, "id", "id"), SHOWN_BYTES);
		text_quote(&cluster, text_of(node, "cluster", "cluster"), SHOWN_BYTES);
		admission.status = XDS_STATUS_PERMISSION_DENIED;
		snprintf(admission.problem, sizeof(admission.problem),
			"no group matches node id \"%s\", cluster \"%s\"", buf_cstr(&id),
			buf_cstr(&cluster));
		buf_fini(&id);
		buf_fini(&cluster);
	}
	return admission;
}
