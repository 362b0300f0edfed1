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

const MetadataKey = z
  .string()
  .refine((key) => key !== '' && lengthOf(key) <= METADATA.keyMax, `Expected a key of 1 to ${METADATA.keyMax} characters`);
const MetadataValue = z
  .string()
  .refine((value) => lengthOf(value) <= METADATA.valueMax, `Expected a text of at most ${METADATA.valueMax} characters`)
  .openapi({ maxLength: METADATA.valueMax });

export const TOO_MANY_KEYS = `Expected at most ${METADATA.keysMax} keys`;
export const hasRoom = (metadata: Record<string, unknown>): boolean => Object.keys(metadata).length <= METADATA.keysMax;

/** Texts of the merchant's own that are kept with an object. */
export const Metadata = z
  .record(MetadataKey, MetadataValue)
  .refine(hasRoom, TOO_MANY_KEYS)
  .openapi({ maxProperties: METADATA.keysMax, example: { plan: 'gold' } });

/** A change of metadata: the keys that it names, and null for those that it removes. */
export const MetadataPatch = z
  .record(MetadataKey, z.union([MetadataValue, z.null()]))
  .openapi({ example: { plan: 'silver', campaign: null } });

/** Metadata after a change; the caller checks that it has room. */
export const changedMetadata = (before: Record<string, string>, patch: z.infer<typeof MetadataPatch>): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
