import { z } from 'zod';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { methodsOf } from '#rules/access/factors.ts';
import { SESSION_METHODS, type SessionMethod } from '#rules/access/sessions.ts';
import { SIGN_IN_PROVIDERS } from '#rules/admission.ts';
import { randomText, readSignedValue, signValue } from '../signed-values.ts';

const LIFE_MS = 5 * MINUTE;
const PURPOSE = 'factor ticket';

const JoiningIdentity = z.object({
  provider: z.enum(SIGN_IN_PROVIDERS),
  subject: z.string(),
  email: z.string().nullable(),
  /** Id under which the use of the provider's proof is stored, and the time until which it must be. */
  used: z.object({ id: z.string(), expiresAt: z.number() }),
});
export type JoiningIdentity = z.infer<typeof JoiningIdentity>;

/** First half of a sign-in: the person proved one way, and has yet to prove a factor. Signed, so that it is stored only when it is used. */
const FactorTicket = z.object({
  id: z.string(),
  personId: z.string().transform((id) => id as AccountId),
  method: z.enum(SESSION_METHODS),
  /** Identity that a provider proved. It is linked with the factor. */
  joining: JoiningIdentity.optional(),
  /** A change that ends sessions ends the ticket too. */
  tokenVersion: z.number(),
  expiresAt: z.number(),
});
export type FactorTicket = z.infer<typeof FactorTicket>;

/** Refusal of a sign-in that was right but for the factor, with the ticket to complete it. */
export function factorRequired(
  ctx: Ctx,
  { id: personId, tokenVersion, factors }: Account,
  method: SessionMethod,
  joining?: JoiningIdentity,
): ApiError {
  const expiresAt = ctx.wallNow + LIFE_MS;
  const ticket: FactorTicket = { id: randomText(), personId, method, ...(joining && { joining }), tokenVersion, expiresAt };
  return new ApiError('factor_required', {
    meta: { ticket: signValue(ctx, PURPOSE, ticket), methods: methodsOf(factors), expires_in: LIFE_MS / SECOND },
  });
}

/** FactorTicket of a refusal by `factorRequired`, for a redirect. Null for another error. */
export const ticketOf = (error: unknown): string | null =>
  error instanceof ApiError && error.code === 'factor_required' ? String(error.options.meta!.ticket) : null;

/** Null for a ticket that is forged or expired. */
export function readTicket(ctx: Ctx, text: string): FactorTicket | null {
  const read = readSignedValue(ctx, PURPOSE, text);
  const ticket = read && FactorTicket.parse(read.value);
  return ticket && ctx.wallNow < ticket.expiresAt ? ticket : null;
}
