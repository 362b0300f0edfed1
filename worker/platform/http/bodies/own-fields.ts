import { z } from '@hono/zod-openapi';
import { METADATA, OWN_NAME_MAX } from '#core/limits.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';

const lengthOf = (text: string): number => [...text.normalize('NFC')].length;

const isOwnName = (text: string): boolean => text !== '' && lengthOf(text) <= OWN_NAME_MAX && text.trim() === text && !/\p{Cc}/u.test(text);

export const OwnName = z
  .string()
  .normalize('NFC')
  .refine(isOwnName, `Expected 1 to ${OWN_NAME_MAX} characters, no control characters, and no space at either end`)
  .openapi({ minLength: 1, maxLength: OWN_NAME_MAX });

/** Reference by which a request names a customer, not one that an erasure wrote. */
export const CustomerRef = OwnName.refine((ref) => !isErasedRef(ref), 'The reference is one of an erased customer');

const hasLength =
  (min: number, max: number) =>
  ({ value, issues }: { value: string; issues: z.core.$ZodRawIssue[] }) => {
    const length = lengthOf(value);
    const problem = { origin: 'string', inclusive: true, input: value } as const;
    if (length < min) issues.push({ code: 'too_small', minimum: min, ...problem });
    if (length > max) issues.push({ code: 'too_big', maximum: max, ...problem });
  };

/** Single-line text shown on pages, PDFs, terminals and in email headers. Rejects control characters (C0, C1). */
export const ShownName = (max: number, min = 1) =>
  z
    .string()
    // Checked before trimming, so that a line break is rejected and not removed.
    .refine((text) => !/\p{Cc}/u.test(text), 'Expected a text without control characters')
    .normalize('NFC')
    .trim()
    .check(hasLength(min, max))
    .openapi({ minLength: min, maxLength: max });

/** Multi-line `ShownName`: line breaks and tabs are the only control characters allowed. */
export const ShownText = (max: number) =>
  z
    .string()
    .normalize('NFC')
    .trim()
    .check(hasLength(1, max))
    .refine((text) => !/(?![\n\r\t])\p{Cc}/u.test(text), 'Expected a text without control characters other than line breaks and tabs')
    .openapi({ minLength: 1, maxLength: max });

/** Public https URL. Rejects user information, which would show buyers another host than the one opened. */
export const HttpsUrl = z
  .url({ protocol: /^https$/, hostname: z.regexes.domain, error: 'Expected an https URL' })
  .max(2048)
  .refine((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', {
    message: 'Expected an https URL without a user name or password',
  });

const MetadataKey = z
  .string()
  .normalize('NFC')
  .refine((key) => key !== '' && lengthOf(key) <= METADATA.keyMax, `Expected a key of 1 to ${METADATA.keyMax} characters`);
/** Keyword for the document only, because the library's types lack it. */
const KEYS = { propertyNames: { minLength: 1, maxLength: METADATA.keyMax } };
const MetadataValue = z
  .string()
  .normalize('NFC')
  .refine((value) => lengthOf(value) <= METADATA.valueMax, `Expected a text of at most ${METADATA.valueMax} characters`)
  .openapi({ maxLength: METADATA.valueMax });

export const TOO_MANY_KEYS = `Expected at most ${METADATA.keysMax} keys`;
export const hasRoom = (metadata: Record<string, unknown>): boolean => Object.keys(metadata).length <= METADATA.keysMax;

export const Metadata = z
  .record(MetadataKey, MetadataValue)
  .refine(hasRoom, TOO_MANY_KEYS)
  .openapi({ maxProperties: METADATA.keysMax, ...KEYS, example: { plan: 'gold' } });

export const MetadataPatch = z
  .record(MetadataKey, z.union([MetadataValue, z.null()]))
  .openapi({ ...KEYS, example: { plan: 'silver', campaign: null } });

/** Merged metadata. The caller checks the size. */
export const changedMetadata = (before: Record<string, string>, patch: z.infer<typeof MetadataPatch>): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));

/** Decimal amount in a request. */
export const DecimalAmount = z.string().max(64).openapi('DecimalAmount', {
  example: '12.5',
  description: 'Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused.',
});
