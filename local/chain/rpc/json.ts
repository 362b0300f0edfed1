interface RawJson {
  rawJSON(text: string): unknown;
}

type ExactReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const rawJson = (JSON as unknown as RawJson).rawJSON;
const parseWithSource = JSON.parse as unknown as (text: string, reviver: ExactReviver) => unknown;

export function encodeJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? rawJson(item.toString()) : item));
}

/** Parses JSON. Integers beyond the precision of a double become `bigint`. */
export function decodeJson(text: string): unknown {
  return parseWithSource(text, (_key, value, context) => {
    const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '');
    return isRounded ? BigInt(context.source!) : value;
  });
}
