import { base64, utf8 } from '#core/encoding.ts';
import { type ListingId, newId } from '#core/ids.ts';
import { listSettings } from '#features/rails/store.ts';
import type { Scope } from '#platform/context.ts';
import type { ListingRow } from '#platform/db/tables/office/listings.ts';
import { BAZAAR } from '#protocols/x402/bazaar.ts';
import { isOnOrigin } from '#protocols/x402/origins.ts';
import { parsePaymentPayload } from '#protocols/x402/wire.ts';
import { FACILITATED_MAX, LISTED_MS, NOTED_MS, type ProbeRequest } from '#rules/catalogue/listing.ts';
import { settingOf } from '#rules/product-rails.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { bodyOf, searchOf } from './probe-request.ts';
import { countFacilitated, findFacilitated, insertFacilitated, notePaid } from './store.ts';

const REJECTIONS = {
  invalid_info: 'The extension bazaar is not valid.',
  external_ref: 'The schema refers to another document.',
  origin_not_yours: 'The URL is on none of the origins of the x402 rail.',
  too_many_resources: `The merchant has ${FACILITATED_MAX} resources.`,
};
type Rejection = keyof typeof REJECTIONS;
type Outcome = { status: 'success' | 'processing' } | { status: 'rejected'; rejectedReason: string };

const reject = (code: Rejection): Outcome => ({ status: 'rejected', rejectedReason: `${code}: ${REJECTIONS[code]}` });

/**
 * Returns the header `EXTENSION-RESPONSES` of a facilitator's answer: whether the resource of a payment is listed. Null if the payload does
 * not describe one. `isPaid`: makes the resource known, so that a probe is due. (specs/extensions/bazaar.md, "Sidechannel")
 */
export async function answerBazaar(ctx: Scope, payload: unknown, { isPaid }: { isPaid: boolean }): Promise<string | null> {
  const parsed = parsePaymentPayload(payload);
  const extension = parsed.ok ? parsed.value.extensions?.[BAZAAR] : undefined;
  if (!parsed.ok || extension === undefined || extension === null) return null;
  const outcome = await judgeExtension(ctx, parsed.value.resource?.url ?? '', extension, isPaid);
  return base64.encode(utf8(JSON.stringify({ [BAZAAR]: outcome })));
}

const REQUEST_CHARS_MAX = 4_096;

async function judgeExtension(ctx: Scope, url: string, extension: unknown, isPaid: boolean): Promise<Outcome> {
  const setting = settingOf(await listSettings(ctx), X402_RAIL);
  // First, so that only the merchant's own buyers can have a schema evaluated.
  if (!isOnOrigin(url, setting?.origins ?? [])) return reject('origin_not_yours');
  const { origin, pathname } = new URL(url);
  const { readForeignBazaar } = await import('./foreign-bazaar.ts');
  const bazaar = readForeignBazaar(extension, pathname);
  if (!bazaar.ok) return reject(bazaar.reason);
  const { method, query, body } = bazaar.value;
  const request: ProbeRequest = { method, url: `${origin}${pathname}${searchOf(query)}`, ...(body ? bodyOf(body.type, body.value) : {}) };
  if (JSON.stringify(request).length > REQUEST_CHARS_MAX) return reject('invalid_info');
  const key = { call: method, target: origin + pathname };
  const known = await findFacilitated(ctx, key);
  if (known) {
    if (isPaid) await noteUse(ctx, known);
    const isListed = known.goodAt !== null && known.goodAt > ctx.wallNow - LISTED_MS;
    return { status: isListed ? 'success' : 'processing' };
  }
  if (!isPaid) return (await countFacilitated(ctx)) < FACILITATED_MAX ? { status: 'processing' } : reject('too_many_resources');
  const isInserted = await insertFacilitated(ctx, newListing(ctx, key, request));
  return isInserted || (await findFacilitated(ctx, key)) ? { status: 'processing' } : reject('too_many_resources');
}

/** Notes a payment, unless one was noted within a day. */
const noteUse = async ({ db, wallNow }: Scope, { id, lastPaymentAt }: ListingRow): Promise<unknown> =>
  wallNow - (lastPaymentAt ?? 0) < NOTED_MS ? null : notePaid(db, id, wallNow);

const newListing = ({ merchantId, wallNow }: Scope, key: Pick<ListingRow, 'call' | 'target'>, request: ProbeRequest): ListingRow => ({
  id: newId<ListingId>(wallNow, merchantId),
  merchantId,
  productId: null,
  ...key,
  request,
  resource: null,
  origin: null,
  shown: null,
  reason: null,
  reasonDetail: null,
  probedAt: null,
  goodAt: null,
  nextProbeAt: wallNow,
  lastPaymentAt: wallNow,
  createdAt: wallNow,
  updatedAt: wallNow,
});
