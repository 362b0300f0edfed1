import { afterAll } from 'vitest';

type Class = { new (...args: unknown[]): object; prototype: object };
type Made = { mainPath: string; instanceCtor: new (state: unknown, env: unknown) => object; instance: object };
type Wrapper = { ctx: DurableObjectState; env: unknown; [symbol: symbol]: unknown };
type Ensure = (this: Wrapper) => Promise<Made>;

// Shares one prototype proxy per class. The test runner adds a proxy for each object, so calls would pass through ever more of them in a
// worker that serves many files.
const { construct } = Reflect;
const firsts = new WeakMap<Class, object>();
Reflect.construct = ((base: Class, args: unknown[], made: Class = base) => {
  if (made.name === 'Class' && Object.getPrototypeOf(made) === base) {
    const first = firsts.get(made);
    if (first) made.prototype = first;
    else {
      firsts.set(made, made.prototype);
      importOnce(made.prototype);
    }
  }
  return construct(base, args, made);
}) as typeof construct;

const restore: (() => void)[] = [];
afterAll(() => {
  Reflect.construct = construct;
  for (const one of restore) one();
});

const symbolOf = (holder: object, name: string) => Object.getOwnPropertySymbols(holder).find(({ description }) => description === name);

/**
 * Before each call of an object, the test runner imports the service once more: a call of its own object and one of its process, which take
 * longer than most methods. The module stays the same as long as a file runs, so the first object of a class imports it for all others.
 */
function importOnce(prototype: object): void {
  const symbol = symbolOf(prototype, 'kEnsureInstance');
  // A worker's own entry, which no test calls, is wrapped the same way.
  if (!symbol) return;
  const wrapped = prototype as Record<symbol, Ensure>;
  const ensure = wrapped[symbol]!;
  const known = new WeakMap<Wrapper, Promise<Made>>();
  let imported: Pick<Made, 'mainPath' | 'instanceCtor'> | null = null;
  const make: Ensure = async function () {
    if (!imported || symbolOf(this, 'kInstance')) {
      const made = await ensure.call(this);
      imported = made;
      return made;
    }
    const instance = new imported.instanceCtor(this.ctx, this.env);
    // `blockConcurrencyWhile` of the constructor has ended before the object is called.
    await this.ctx.blockConcurrencyWhile(async () => {});
    return { ...imported, instance };
  };
  wrapped[symbol] = function () {
    const before = known.get(this);
    if (before) return before;
    const made = make.call(this);
    known.set(this, made);
    made.catch(() => known.delete(this));
    return made;
  };
  restore.push(() => {
    wrapped[symbol] = ensure;
  });
}
