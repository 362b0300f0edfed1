const BUILT_IN = [TypeError, RangeError, SyntaxError, DOMException, Error];

/** Error as plain data. Left out: the position of a syntax error, which node:sqlite does not say, and the id of an object. */
function shown(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null) return { thrown };
  const error = thrown as Error & Record<string, unknown>;
  const names = Object.getOwnPropertyNames(error).filter(
    (name) => !['stack', 'message', 'cause', 'name', 'code', 'durableObjectId'].includes(name),
  );
  return {
    type: BUILT_IN.find((one) => thrown instanceof one)?.name ?? 'object',
    name: error.name,
    message: String(error.message).replace(/ at offset \d+/, ''),
    ...(typeof error.code === 'string' ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: String(error.cause).replace(/ at offset \d+/, '') }),
    ...Object.fromEntries(names.sort().map((name) => [name, error[name]])),
  };
}

/** Result of `work`, or what it threw. */
export async function attempt(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return { threw: shown(error) };
  }
}

export function attemptSync(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return { threw: shown(error) };
  }
}

/** Outcomes of several attempts, one after the other, by name. */
export async function attempts(works: Record<string, () => unknown>): Promise<Record<string, unknown>> {
  const outcomes: Record<string, unknown> = {};
  for (const [name, work] of Object.entries(works)) outcomes[name] = await attempt(work);
  return outcomes;
}

/** Text of a value that shows its types. */
export const textOf = (value: unknown): string => JSON.stringify(plain(value), null, 1);

function plain(value: unknown): unknown {
  if (value === undefined) return { $undefined: true };
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { $number: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ArrayBuffer) return { $buffer: [...new Uint8Array(value)] };
  if (value instanceof Uint8Array) return { $bytes: [...value] };
  if (value instanceof Date) return { $date: value.getTime() };
  if (value instanceof Map) return { $map: plain([...value]) };
  if (value instanceof Set) return { $set: plain([...value]) };
  if (value instanceof Error) return { $error: plain(shown(value)) };
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
