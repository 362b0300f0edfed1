/** Way out of an isolate: the kind of binding, the object, queue or database that is called, and the verb. */
export interface Way {
  kind: 'd1' | 'object' | 'alarm' | 'queue' | 'r2' | 'fetch' | 'timer';
  target: string;
  verb: string;
}

/**
 * Carries every call of the platform. `work` has the effect and runs at most once. A caller gets what `pass` resolves to, so that a fault
 * before the effect rejects without running `work`, and a lost answer rejects after it.
 */
export type Pass = <T>(way: Way, work: () => T | Promise<T>) => Promise<T>;

export const passAtOnce: Pass = async (_way, work) => work();

/** Constructors of the isolate that a binding belongs to, so that `instanceof` holds for the errors and values it returns. */
export type Realm = Pick<
  typeof globalThis,
  'Error' | 'TypeError' | 'RangeError' | 'SyntaxError' | 'Object' | 'Array' | 'Map' | 'Set' | 'Date' | 'ArrayBuffer' | 'Uint8Array'
>;
