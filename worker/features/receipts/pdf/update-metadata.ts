import type { z } from '@hono/zod-openapi';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata } from '#pdf/facts.ts';
import type { Scope } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { findMetadata, getReceipt, storeMetadata } from '../store.ts';
import type { InvoiceMetadataPatch } from './invoice-metadata.ts';

const BYTES_MAX = 16 * 1024;

type InvoicePatch = z.infer<typeof InvoiceMetadataPatch>;

type Values = Record<string, unknown>;
const isGroup = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges field by field and drops empty groups. `changed` holds dotted paths. Pure. */
function mergeMetadata(known: InvoiceMetadata, patch: InvoicePatch): { metadata: InvoiceMetadata; changed: string[] } {
  const { merged, changed } = merge(known as Values, patch as Values, '');
  return { metadata: merged as InvoiceMetadata, changed };
}

function merge(known: Values, patch: Values, path: string): { merged: Values; changed: string[] } {
  const merged = { ...known };
  const changed: string[] = [];
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const before = known[name];
    if (isGroup(value)) {
      const inner = merge(isGroup(before) ? before : {}, value, `${path}${name}.`);
      changed.push(...inner.changed);
      if (Object.keys(inner.merged).length > 0) merged[name] = inner.merged;
      else delete merged[name];
      continue;
    }
    if (value === null ? before === undefined : before !== undefined && canonicalJson(before) === canonicalJson(value)) continue;
    changed.push(`${path}${name}`);
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  return { merged, changed };
}

/**
 * Merges a merchant's metadata of a receipt, outside the signed document. Returns the dotted paths of changed fields. Throws 404 not_found,
 * 422 validation_error above 16 KB.
 */
export async function updateMetadata(
  ctx: Scope,
  receiptId: ReceiptId,
  patch: InvoicePatch,
  storeAnswer: StoreAnswer<string[]>,
): Promise<string[]> {
  const receipt = await getReceipt(ctx, receiptId);
  let planned: { version: number; metadata: InvoiceMetadata; changed: string[] } | null = null;
  return transact(ctx, { reload: () => findMetadata(ctx.db, receiptId) }, async (known) => {
    // An earlier try was stored and its answer was lost.
    if (planned && known?.version === planned.version && canonicalJson(known.metadata) === canonicalJson(planned.metadata))
      return unchanged(planned.changed);
    const { metadata, changed } = mergeMetadata(known?.metadata ?? {}, patch);
    if (utf8(canonicalJson(metadata)).length > BYTES_MAX) {
      const msg = `Expected at most ${BYTES_MAX / 1024} KB of metadata per receipt`;
      throw new ApiError('validation_error', { problems: [{ loc: ['body'], msg, type: 'too_long' }] });
    }
    if (changed.length === 0) return unchangedWithAnswer(changed, storeAnswer);
    const billedBy = changed.some((path) => path.startsWith('bill_to')) ? null : (known?.billedBy ?? null);
    planned = { version: (known?.version ?? 0) + 1, metadata, changed };
    return withAnswer(
      { events: [], writes: storeMetadata(ctx, receipt, metadata, { version: planned.version, billedBy }), result: changed },
      storeAnswer(changed),
    );
  });
}
