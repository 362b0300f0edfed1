import { isAnyArrayBuffer, isDate, isMap, isNativeError, isSet, isTypedArray } from 'node:util/types';
import type { Realm } from './way.ts';

const ERRORS = ['TypeError', 'RangeError', 'SyntaxError', 'Error'] as const;

const unclonable = (problem: string): DOMException => new DOMException(problem, 'DataCloneError');

const isPlain = (prototype: object | null): boolean => prototype === null || Object.getPrototypeOf(prototype) === null;

/**
 * Copies an argument or result of a call into the receiver's isolate. Throws DataCloneError as workerd does. Functions, which workerd passes
 * as stubs, and cycles are not supported.
 */
export function cloneInto<T>(value: T, realm: Realm): T {
  if (typeof value === 'symbol') throw unclonable(`${String(value)} could not be cloned.`);
  if (typeof value === 'function') throw unclonable(`${value} could not be cloned.`);
  return typeof value === 'object' && value !== null ? (cloneObject(value, realm) as T) : value;
}

function cloneObject(value: object, realm: Realm): unknown {
  if (Array.isArray(value)) return realm.Array.from(value, (one) => cloneInto(one, realm));
  const prototype = Object.getPrototypeOf(value);
  if (isPlain(prototype)) return cloneProperties(value, new realm.Object(), realm);
  if (value instanceof DOMException) return new DOMException(value.message, value.name);
  if (isNativeError(value)) return cloneError(value, realm);
  if (isDate(value)) return new realm.Date(value.getTime());
  if (isMap(value)) return new realm.Map([...value].map(([key, one]) => [cloneInto(key, realm), cloneInto(one, realm)]));
  if (isSet(value)) return new realm.Set([...value].map((one) => cloneInto(one, realm)));
  if (isAnyArrayBuffer(value)) return copyBytes(new Uint8Array(value as ArrayBuffer), realm).buffer;
  if (isTypedArray(value) && value[Symbol.toStringTag] === 'Uint8Array') return copyBytes(value as Uint8Array, realm);
  throw unclonable(`Could not serialize object of type "${value.constructor?.name}". This type does not support serialization.`);
}

function cloneProperties(from: object, to: object, realm: Realm): object {
  const target = to as Record<string, unknown>;
  for (const [name, one] of Object.entries(from)) target[name] = cloneInto(one, realm);
  return target;
}

function copyBytes(bytes: Uint8Array, realm: Realm): Uint8Array {
  const copy = new realm.Uint8Array(new realm.ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function nameOfBuiltIn(error: Error): (typeof ERRORS)[number] {
  for (let prototype = Object.getPrototypeOf(error); prototype !== null; prototype = Object.getPrototypeOf(prototype)) {
    const name = ERRORS.find((one) => one === prototype.constructor?.name);
    if (name) return name;
  }
  return 'Error';
}

function cloneError(error: Error, realm: Realm): Error {
  const copy = new realm[nameOfBuiltIn(error)](error.message);
  for (const name of Object.getOwnPropertyNames(error)) {
    if (name === 'stack' || name === 'message') continue;
    (copy as unknown as Record<string, unknown>)[name] = cloneInto((error as unknown as Record<string, unknown>)[name], realm);
  }
  return copy;
}

/** Copies what a method of an object threw into the caller's isolate, with the marks of workerd. */
export function thrownInto(thrown: unknown, realm: Realm, marks: object): unknown {
  const copy = typeof thrown === 'object' && thrown !== null ? cloneInto(thrown, realm) : new realm.Error(String(thrown));
  return Object.assign(copy as object, marks);
}

/** Error that a caller gets for an object that has aborted with `reason`. Only the type of a built-in error survives. */
export function abortedInto(reason: unknown, realm: Realm): Error {
  const { name, message } = reason as { name?: unknown; message?: unknown };
  const builtIn = ERRORS.find((one) => one === name);
  const text = isNativeError(reason) ? (builtIn ? String(message) : `${name}: ${message}`) : String(reason);
  return Object.assign(new realm[builtIn ?? 'Error'](text), { durableObjectReset: true });
}

/** Error of the platform itself. `retryable`: the call may be repeated. `overloaded`: it must not be. */
export const platformError = (realm: Realm, message: string, marks: { retryable?: true; overloaded?: true }): Error =>
  Object.assign(new realm.Error(message), marks);
