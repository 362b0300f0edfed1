import { describe, expect, it } from 'vitest';
import { type Document, readOperations, type Schema } from '../../sdk/generate/document.ts';
import { docOf, Types } from '../../sdk/generate/schemas.ts';

const documentOf = (schemas: Record<string, Schema>): Document => ({
  info: { version: '1.0.0' },
  paths: {},
  components: { schemas },
  'x-error-codes': {},
});
const typesOf = (schemas: Record<string, Schema> = {}) => new Types(documentOf(schemas), new Set(['a.made', 'b.made']));
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

describe('types of schemas', () => {
  it.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'string', enum: ['live', 'sandbox'] }, "'live' | 'sandbox'"],
    [{ type: 'boolean', enum: [false] }, 'false'],
    [{ const: 'USDC' }, "'USDC'"],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number | null'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
    [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
    [{}, 'unknown'],
    [{ type: 'string', enum: ['b.made', 'a.made'] }, 'EventType'],
    [
      { type: 'object', properties: { a: { type: 'string' }, 'b-c': { type: 'number' } }, required: ['a'] },
      "{ a: string; 'b-c'?: number; }",
    ],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: {} }, '{ a?: string; [key: string]: unknown; }'],
    [
      { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { $ref: '#/components/schemas/Base' }] },
      '{ a?: string; } & Base',
    ],
  ])('%j', (schema, text) => {
    expect(plain(typesOf({ Base: { type: 'object' } }).typeOf(schema))).toBe(text);
  });

  it('an object is an interface, which extends its base', () => {
    const Base = { type: 'object', properties: { id: { type: 'string' }, kind: { type: 'string' } }, required: ['id', 'kind'] };
    const $ref = '#/components/schemas/Base';
    const types = typesOf({
      Base,
      More: { allOf: [{ $ref }, { type: 'object', properties: { name: { type: 'string', description: 'Name.' } }, required: ['name'] }] },
      // The base requires the field that this one narrows.
      Narrow: { allOf: [{ $ref }, { type: 'object', properties: { kind: { type: 'string', enum: ['a'] } } }] },
    });
    expect(plain(types.declare('Base'))).toBe('export interface Base { id: string; kind: string; }');
    expect(plain(types.declare('More'))).toBe('export interface More extends Base { /** Name. */ name: string; }');
    expect(plain(types.declare('Narrow'))).toBe("export interface Narrow extends Omit<Base, 'kind'> { kind: 'a'; }");
    expect([...types.reached]).toEqual(['Base']);
  });

  it('a customer is named by exactly one of two fields', () => {
    const text = { type: 'string' };
    const types = typesOf({ Customer: { type: 'object', properties: { wallet_address: text, customer_ref: text } } });
    expect(plain(types.declare('Customer'))).toBe('export type Customer = { wallet_address: string; } | { customer_ref: string; };');
    expect(() => types.requireChoices()).toThrow('ConsumeRequest');
  });

  it('an unknown component fails', () => {
    expect(() => typesOf().typeOf({ $ref: '#/components/schemas/None' })).toThrow('no schema None');
  });

  it('a doc comment is the first sentences, and cannot end early', () => {
    expect(docOf('One. Two.')).toBe('/** One. Two. */\n');
    expect(docOf(`${'x'.repeat(150)}. ${'Y'.repeat(150)}.`)).toBe(`/** ${'x'.repeat(150)}. */\n`);
    expect(docOf('Matches a*/b.')).toBe('/** Matches a*b. */\n');
  });
});

describe('operations of a document', () => {
  const operation = { operationId: 'makeThing', responses: { 200: { content: { 'application/json': { schema: {} } } } } };
  const named = { ...operation, 'x-sdk': 'things.make' };
  const read = (post: object) => readOperations({ ...documentOf({}), paths: { '/v1/things': { post } } } as Document);

  it('an operation that names no method fails, unless it is left out', () => {
    expect(() => read(operation)).toThrow('makeThing has no x-sdk');
    expect(read({ ...operation, 'x-sdk': false })).toEqual([]);
  });

  it('a write without idempotency fails', () => {
    expect(() => read(named)).toThrow('makeThing writes and has no x-idempotency');
    expect(read({ ...named, 'x-idempotency': 'honoured' })).toMatchObject([{ id: 'makeThing', verb: 'POST', idempotency: 'honoured' }]);
  });

  it('two operations of one name fail', () => {
    const twice = { ...documentOf({}), paths: { '/v1/a': { get: named }, '/v1/b': { get: named } } } as unknown as Document;
    expect(() => readOperations(twice)).toThrow('Two operations are things.make');
  });
});
