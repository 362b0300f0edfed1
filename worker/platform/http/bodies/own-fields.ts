import { z } from '@hono/zod-openapi';
import { METADATA, OWN_NAME_MAX } from '#core/limits.ts';

const lengthOf = (text: string): number => [...text.normalize('NFC')].length;

const isOwnName = (text: string): boolean => text !== '' && lengthOf(text) <= OWN_NAME_MAX && text.trim() === text && !/\p{Cc}/u.test(text);

/** The name a merchant gives to a product or a customer. Two spellings of the same characters are one name. */
export const OwnName = z
  .string()
  .normalize('NFC')
  .refine(isOwnName, `Expected 1 to ${OWN_NAME_MAX} characters, no control characters, and no space at either end`)
  .openapi({ minLength: 1, maxLength: OWN_NAME_MAX });

/** Counts code points after NFC, with the problems of `min` and `max`. */
const hasLength =
  (min: number, max: number) =>
  ({ value, issues }: { value: string; issues: z.core.$ZodRawIssue[] }) => {
    const length = lengthOf(value);
    const problem = { origin: 'string', inclusive: true, input: value } as const;
    if (length < min) issues.push({ code: 'too_small', minimum: min, ...problem });
    if (length > max) issues.push({ code: 'too_big', maximum: max, ...problem });
  };

/** One line that people are shown, on pages, PDFs and terminals, or in the header of an e-mail: no control characters (C0, C1). */
export const ShownName = (max: number, min = 1) =>
  z
    .string()
    // Before spaces are cut off: a line break is refused, never put right.
    .refine((text) => !/\p{Cc}/u.test(text), 'Expected a text without control characters')
    .normalize('NFC')
    .trim()
    .check(hasLength(min, max))
    .openapi({ minLength: min, maxLength: max });

/** Same as `ShownName`, but of several lines: line breaks and tabs are the only control characters. */
export const ShownText = (max: number) =>
  z
    .string()
    .normalize('NFC')
    .trim()
    .check(hasLength(1, max))
    .refine((text) => !/(?![\n\r\t])\p{Cc}/u.test(text), 'Expected a text without control characters other than line breaks and tabs')
    .openapi({ minLength: 1, maxLength: max });

/** A public https address. One with user information would show buyers another host than the one it opens. */
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
/** Said of the keys in the document; no type of the library knows the word. */
const KEYS = { propertyNames: { minLength: 1, maxLength: METADATA.keyMax } };
const MetadataValue = z
  .string()
  .normalize('NFC')
  .refine((value) => lengthOf(value) <= METADATA.valueMax, `Expected a text of at most ${METADATA.valueMax} characters`)
  .openapi({ maxLength: METADATA.valueMax });

export const TOO_MANY_KEYS = `Expected at most ${METADATA.keysMax} keys`;
export const hasRoom = (metadata: Record<string, unknown>): boolean => Object.keys(metadata).length <= METADATA.keysMax;

/** Texts of the merchant's own that are kept with an object. */
export const Metadata = z
  .record(MetadataKey, MetadataValue)
  .refine(hasRoom, TOO_MANY_KEYS)
  .openapi({ maxProperties: METADATA.keysMax, ...KEYS, example: { plan: 'gold' } });

/** A change of metadata: the keys that it names, and null for those that it removes. */
export const MetadataPatch = z
  .record(MetadataKey, z.union([MetadataValue, z.null()]))
  .openapi({ ...KEYS, example: { plan: 'silver', campaign: null } });

/** Metadata after a change; the caller checks that it has room. */
export const changedMetadata = (before: Record<string, string>, patch: z.infer<typeof MetadataPatch>): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
