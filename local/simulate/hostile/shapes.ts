import type { Dice } from '../world/outside/dice.ts';

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  example?: unknown;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  schema?: Schema;
}

/** Route of the document. */
export interface Target {
  method: string;
  template: string;
  parameters: Parameter[];
  body: Schema | undefined;
  /** Names of the schemes that admit a caller. Empty for a public route. */
  schemes: string[];
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> }; security?: Record<string, unknown>[] }
    >
  >;
}

const FORMATS: Record<string, readonly string[]> = {
  uuid: ['01900000-0000-7000-8000-000000000000'],
  email: ['ada@example.com', 'Ada.Lovelace+tag@sub.example.co.uk'],
  uri: ['https://shop.example.com/thanks?a=b', 'http://127.0.0.1:9/x', 'ftp://x', 'javascript:alert(1)'],
  'date-time': ['2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'],
};

/** Value for the field of a name. Undefined: none is known. */
export type Known = (name: string) => string | undefined;

/** Reads routes and shapes from the document of the service. */
export class Shapes {
  readonly targets: readonly Target[];
  readonly #document: Document;

  constructor(document: object) {
    this.#document = document as Document;
    this.targets = Object.entries(this.#document.paths).flatMap(([template, operations]) =>
      Object.entries(operations).map(([method, { parameters = [], requestBody, security = [] }]) => ({
        method: method.toUpperCase(),
        template,
        parameters: parameters.map((one) => this.#follow(one)),
        body: requestBody?.content['application/json']?.schema,
        schemes: security.flatMap((one) => Object.keys(one)),
      })),
    );
  }

  /** Makes a value that the schema allows, mostly. */
  valueOf(given: Schema, dice: Dice, known: Known, name = ''): unknown {
    const schema = this.#follow(given);
    const own = schema.type === 'string' || schema.type === undefined ? known(name) : undefined;
    if (own !== undefined) return own;
    if (schema.enum) return dice.oneOf(schema.enum);
    const choices = schema.anyOf ?? schema.allOf;
    if (choices) return this.valueOf(dice.oneOf(choices), dice, known, name);
    switch (schema.type) {
      case 'object':
        return this.#objectOf(schema, dice, known);
      case 'array':
        return Array.from({ length: (schema.minItems ?? 0) + dice.below(3) }, () =>
          this.valueOf(schema.items ?? {}, dice, known, name.replace(/s$/, '')),
        );
      case 'string':
        return textOf(schema, dice);
      case 'integer':
      case 'number':
        return dice.oneOf([schema.minimum ?? 0, schema.minimum ?? 1, 1, 2, 3, schema.maximum ?? 1000]);
      case 'boolean':
        return dice.chance(0.5);
      default:
        return schema.example ?? null;
    }
  }

  #objectOf({ properties = {}, required = [], example }: Schema, dice: Dice, known: Known): unknown {
    const shown = dice.chance(0.5) ? Object.keys((example ?? {}) as object) : Object.keys(properties).filter(() => dice.chance(0.4));
    const names = new Set([...required, ...shown].filter((one) => one in properties));
    const value = (one: string) => {
      const sample = (example as Record<string, unknown> | undefined)?.[one];
      const isSimple = sample !== undefined && typeof sample !== 'object' && known(one) === undefined;
      return isSimple && dice.chance(0.7) ? sample : this.valueOf(properties[one]!, dice, known, one);
    };
    return Object.fromEntries([...names].map((one) => [one, value(one)]));
  }

  #follow<T extends { $ref?: string }>(node: T): T {
    if (node.$ref === undefined) return node;
    const found = node.$ref
      .split('/')
      .slice(1)
      .reduce((at: unknown, part) => (at as Record<string, unknown>)[part], this.#document);
    return this.#follow(found as T);
  }
}

function textOf({ format = '', minLength = 1, maxLength = 200, example }: Schema, dice: Dice): string {
  const choices = [...(FORMATS[format] ?? []), ...(typeof example === 'string' ? [example, example] : [])];
  if (choices.length > 0 && dice.chance(0.9)) return dice.oneOf(choices);
  return dice.oneOf(['x'.repeat(Math.max(1, minLength)), 'x'.repeat(Math.min(maxLength, 2_000)), 'Grüße, 世界']);
}
