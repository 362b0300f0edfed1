import { z } from 'zod';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import { randomText, readSignedValue, signValue } from '../signed-values.ts';
import { takeState } from '../store.ts';

export const CEREMONY_MS = 5 * MINUTE;
const PURPOSE = 'passkey ceremony';

/** Ceremony of a passkey. Carried in its signed id, so that anonymous callers store nothing. */
const Ceremony = z.object({
  kind: z.enum(['register', 'sign_in', 'step_up']),
  challenge: z.string(),
  /** Null: a sign-in, which names no person. */
  personId: z
    .string()
    .transform((id) => id as AccountId)
    .nullable(),
  /** Handle of the person at the authenticator, for a registration. */
  userHandle: z.string().nullable(),
  expiresAt: z.number(),
});
export type Ceremony = z.infer<typeof Ceremony>;

export function beginCeremony(
  ctx: Ctx,
  { kind, personId = null, userHandle = null }: Pick<Ceremony, 'kind'> & Partial<Pick<Ceremony, 'personId' | 'userHandle'>>,
): { ceremonyId: string; challenge: string } {
  const ceremony: Ceremony = { kind, challenge: randomText(), personId, userHandle, expiresAt: ctx.wallNow + CEREMONY_MS };
  return { ceremonyId: signValue(ctx, PURPOSE, ceremony), challenge: ceremony.challenge };
}

/**
 * Uses up a ceremony, before its response is verified, so that each challenge is tried once. Null for one that is forged, used, expired, of
 * another kind or of another person.
 */
export async function takeCeremony(
  ctx: Ctx,
  ceremonyId: string,
  { kind, personId = null }: Pick<Ceremony, 'kind'> & { personId?: AccountId | null },
): Promise<Ceremony | null> {
  const read = readSignedValue(ctx, PURPOSE, ceremonyId);
  if (!read) return null;
  const ceremony = Ceremony.parse(read.value);
  if (ceremony.kind !== kind || ceremony.personId !== personId || ctx.wallNow >= ceremony.expiresAt) return null;
  return (await takeState(globalOf(ctx).db, ceremony.challenge, ceremony.expiresAt)) ? ceremony : null;
}

export interface RelyingParty {
  id: string;
  name: string;
  origin: string;
}

/** Party that a passkey is bound to. Browsers refuse passkeys on IP addresses, so that a local machine is `localhost`. */
export function relyingParty({ baseUrl, config }: Ctx): RelyingParty {
  const url = new URL(baseUrl);
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost';
  return { id: url.hostname, name: config.OPERATOR_NAME ?? url.hostname, origin: url.origin };
}
