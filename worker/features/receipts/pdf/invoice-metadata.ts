import { z } from '@hono/zod-openapi';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata } from '#pdf/facts.ts';
import type { Scope } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { findMetadata, getReceipt, storeMetadata } from '../store.ts';

const BYTES_MAX = 16 * 1024;

/** `null` clears a field. An omitted field is unchanged. */
const clearable = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]).optional().describe(schema.description!);
const decimal = z.string().regex(/^-?\d{1,15}(\.\d{1,9})?$/, 'Expected a decimal such as "12.50"');
const date = z.iso.date();
const LINES_MAX = 50;

const Line = z
  .object({
    description: ShownName(500).describe('Description of the line.'),
    quantity: decimal.describe('Quantity: a decimal as text.'),
    amount: decimal.describe('Decimal amount of the line as text. For display only.'),
  })
  .openapi('InvoiceLine');
const partyFields = {
  name: ShownName(200).describe('Name of the party.'),
  address: ShownText(500).describe('Postal address.'),
  tax_id: ShownName(64).describe('Tax number.'),
};
const buyerFields = { ...partyFields, email: z.email().max(254).describe('Email address.') };
const taxFields = {
  label: ShownName(64).describe('Name of the tax.'),
  rate_percent: decimal.describe('Rate in percent: a decimal as text.'),
  amount: decimal.describe('Decimal amount of the tax as text.'),
};

type Fields = Record<string, z.ZodType>;
const eachOptional = <F extends Fields>(fields: F) =>
  z.object(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.optional()])) as {
      [K in keyof F]: z.ZodOptional<F[K]>;
    },
  );
const eachClearable = <F extends Fields>(fields: F) =>
  z.object(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, clearable(schema)])) as {
      [K in keyof F]: ReturnType<typeof clearable<F[K]>>;
    },
  );

const plain = {
  invoice_number: ShownName(64).describe('Your invoice number.'),
  reference: ShownName(120).describe('Text of your own, such as an order number.'),
  issued_on: date.describe('Date of the invoice, such as `2026-11-21`.'),
  due_on: date.describe('Due date of the invoice, such as `2026-12-21`.'),
  notes: ShownText(2000).describe('Further notes.'),
  lines: z.array(Line).max(LINES_MAX).describe('Lines of the invoice.'),
};

const GROUPS = { seller: 'Seller, as the invoice names it.', bill_to: 'Billed party.', tax: 'Included tax.' };

/** Merchant's notes on a receipt. Not part of the signed document or any public answer. */
export const InvoiceMetadataBody = eachOptional({
  ...plain,
  seller: eachOptional(partyFields).describe(GROUPS.seller),
  bill_to: eachOptional(buyerFields).describe(GROUPS.bill_to),
  tax: eachOptional(taxFields).describe(GROUPS.tax),
}).openapi('InvoiceMetadata');

export const InvoiceMetadataPatch = eachClearable({
  ...plain,
  seller: eachClearable(partyFields).describe(GROUPS.seller),
  bill_to: eachClearable(buyerFields).describe(GROUPS.bill_to),
  tax: eachClearable(taxFields).describe(GROUPS.tax),
}).openapi('InvoiceMetadataPatch', {
  example: { invoice_number: 'INV-2026-0042', bill_to: { name: 'Kwame & Söhne GmbH' } },
});
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
    planned = { version: (known?.version ?? 0) + 1, metadata, changed };
    return withAnswer(
      { events: [], writes: storeMetadata(ctx, receipt, metadata, planned.version), result: changed },
      storeAnswer(changed),
    );
  });
}
