/** A number too long for a double, kept exact on its way into JSON. */
interface RawJson {
  rawJSON(text: string): unknown;
}

type ExactReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const rawJson = (JSON as unknown as RawJson).rawJSON;
const parseWithSource = JSON.parse as unknown as (text: string, reviver: ExactReviver) => unknown;

/** JSON with every `bigint` written as an exact integer. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? rawJson(item.toString()) : item));
}

/** Parses JSON; an integer a double cannot hold becomes a `bigint` instead of being rounded. */
export function decodeJson(text: string): unknown {
  return parseWithSource(text, (_key, value, context) => {
    const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '');
    return isRounded ? BigInt(context.source!) : value;
  });
}
