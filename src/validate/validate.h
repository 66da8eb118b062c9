/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message against everything its schema demands: validate.rules at every depth, through Any
 * contents, maps, oneofs and wrappers; deprecated fields and enum values, fields that Envoy
 * refuses by default, and types that are work in progress. Each finding is a diagnostic at the
 * place in the source: `filter_chains[0].name: must have at least 1 character [string.min_len]`.
 * As Envoy's generated checks: an unset scalar counts as its default unless it is a member of a
 * oneof or `optional`, a pattern must match the whole text, and what an upper limit below a lower
 * one leaves out is a gap. What only proto2 has (extensions, groups) is looked at below, not by
 * rules of its own. Threads: one at a time per validator.
 */
#ifndef XDSPUB_VALIDATE_VALIDATE_H
#define XDSPUB_VALIDATE_VALIDATE_H

#include "message/message.h"

struct validator;

struct validator *validator_new(const struct schema *schema); /* the schema is borrowed */
void validator_free(struct validator *validator);	      /* NULL is fine */
/* `path` is that of the file, for the diagnostics. Returns how many errors there are. */
size_t validator_check(struct validator *validator, const struct message *message, const char *path,
	struct diag_list *diags);

#endif
