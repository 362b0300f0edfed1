import { afterAll } from 'vitest';

type Class = { new (...args: unknown[]): object; prototype: object };

// For each object that is made, the test runner puts another proxy around the prototype of its class: a call would go through as many
// of them as objects were made before it, and a worker that serves many files would take ever longer. All of them do the same.
const { construct } = Reflect;
const firsts = new WeakMap<Class, object>();
Reflect.construct = ((base: Class, args: unknown[], made: Class = base) => {
  if (made.name === 'Class' && Object.getPrototypeOf(made) === base) {
    const first = firsts.get(made);
    if (first) made.prototype = first;
    else firsts.set(made, made.prototype);
  }
  return construct(base, args, made);
}) as typeof construct;
afterAll(() => {
  Reflect.construct = construct;
});
