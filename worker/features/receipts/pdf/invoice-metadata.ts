import { z } from '@hono/zod-openapi';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';

/** `null` clears a field. An omitted field is unchanged. */
const clearable = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]).optional().describe(schema.description!);
const decimal = z.string().regex(/^-?\d{1,15}(\.\d{1,9})?$/, 'Expected a decimal such as "12.50"');
const date = z.iso.date();
const LINES_MAX = 50;

const Line = z
  .object({
    description: ShownName(500),
    quantity: decimal.describe('Quantity: a decimal as text.'),
    amount: decimal.describe('Decimal amount of the line as text. For display only.'),
  })
  .openapi('InvoiceLine');
const partyFields = {
  name: ShownName(200).describe('Name of the party.'),
  address: ShownText(500).describe('Postal address.'),
  tax_id: ShownName(64).describe('Tax number.'),
};
const buyerFields = { ...partyFields, email: z.email().max(254) };
/** Fields that a buyer may set, with the buyer's own limits. */
const ownFields = { ...partyFields, tax_id: ShownName(200).describe('Tax number.'), email: z.email().max(200) };
const taxFields = {
  label: ShownName(64),
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
  notes: ShownText(2000),
  lines: z.array(Line).max(LINES_MAX),
};

const GROUPS = { seller: 'Seller, as the invoice names it.', bill_to: 'Billed party.', tax: 'Included tax.' };

/** Merchant's notes on a receipt. Not part of the signed document or any public answer. */
export const InvoiceMetadataBody = eachOptional({
  ...plain,
  seller: eachOptional(partyFields).describe(GROUPS.seller),
  bill_to: eachOptional({ ...buyerFields, tax_id: ownFields.tax_id }).describe(GROUPS.bill_to),
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

/** Billed party as its buyer sees and sets it. */
export const BillToBody = eachOptional(ownFields);
