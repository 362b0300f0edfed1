import { type Document, nameIn, type Schema } from './document.ts';

/**
 * Requests that name exactly one of two fields. The document lists both as optional, because JSON Schema would say it only by a
 * union without names.
 */
const EXACTLY_ONE: Record<string, [string, string]> = {
  Customer: ['wallet_address', 'customer_ref'],
  ConsumeRequest: ['product_id', 'external_product_id'],
  GrantRequest: ['product_id', 'external_product_id'],
  SettleRequest: ['product_id', 'external_product_id'],
  MeteredSessionRequest: ['product_id', 'external_product_id'],
  PaymentSessionRequest: ['product_id', 'external_product_id'],
};

const DOC_MAX = 200;

/** Returns a doc comment with the first sentences of a description. */
export function docOf(description = ''): string {
  const text = description.replace(/\s+/g, ' ').replaceAll('*/', '*').trim();
  if (text === '') return '';
  let short = '';
  for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z`])/)) {
    if (short !== '' && short.length + sentence.length > DOC_MAX) break;
    short += `${short === '' ? '' : ' '}${sentence}`;
  }
  return `/** ${short} */\n`;
}

const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value));
const union = (members: string[]): string => [...new Set(members)].join(' | ');
const SCALARS: Record<string, string> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

/** Writes schemas as TypeScript, and records which components they name. */
export class Types {
  readonly reached = new Set<string>();
  readonly #schemas: Record<string, Schema>;
  readonly #eventTypes: ReadonlySet<unknown>;

  constructor({ components }: Document, eventTypes: ReadonlySet<unknown>) {
    this.#eventTypes = eventTypes;
    this.#schemas = components.schemas;
  }

  /** Throws if the document has another name for a schema of `EXACTLY_ONE`. */
  requireChoices(): void {
    const unknown = Object.keys(EXACTLY_ONE).filter((name) => !this.#schemas[name]);
    if (unknown.length > 0) throw new Error(`The document has no schema ${unknown.join(', ')}: correct EXACTLY_ONE`);
  }

  /** Writes a schema as the text of a type. */
  typeOf(schema: Schema): string {
    if (schema.$ref) return this.#named(nameIn(schema.$ref));
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.enum) return this.#choice(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return union(choices.map((one) => this.typeOf(one)));
    if (schema.allOf) return this.#merged(schema.allOf);
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => this.typeOf({ ...schema, type })));
    if (schema.type === 'array') return this.#list(schema.items ?? {});
    if (schema.type === 'object' || schema.properties) return this.#object(schema);
    return SCALARS[schema.type ?? ''] ?? 'unknown';
  }

  /** Declares a component: an interface if it is an object, so that editors show its name. */
  declare(name: string, schema: Schema = this.#schemas[name]!): string {
    const doc = docOf(schema.description);
    const pair = EXACTLY_ONE[name];
    if (pair) return `${doc}export type ${name} = ${this.#exactlyOne(schema, pair)};\n`;
    const parts = schema.allOf ?? [schema];
    const bases = parts.filter(({ $ref }) => $ref !== undefined);
    const own = mergedProperties(parts.filter(({ $ref }) => $ref === undefined));
    if (!own || bases.length > 1 || parts.length - bases.length > 1) return `${doc}export type ${name} = ${this.typeOf(schema)};\n`;
    const heads = bases.map(({ $ref }) => ` extends ${this.#baseOf(nameIn($ref!), Object.keys(own.properties ?? {}))}`);
    const required = [...(own.required ?? []), ...bases.flatMap(({ $ref }) => this.#schemas[nameIn($ref!)]?.required ?? [])];
    return `${doc}export interface ${name}${heads.join('')} ${this.#object({ ...own, required })}\n`;
  }

  /** Declares every component that was named so far, and those that these name. */
  declareReached(except: ReadonlySet<string>): string {
    const written = new Map<string, string>();
    for (let pending = [...this.reached]; pending.length > 0; pending = [...this.reached].filter((name) => !written.has(name)))
      for (const name of pending) written.set(name, except.has(name) ? '' : this.declare(name));
    const inOrder = Object.keys(this.#schemas).filter((name) => written.get(name));
    return inOrder.map((name) => written.get(name)).join('\n');
  }

  #named(name: string): string {
    if (!this.#schemas[name]) throw new Error(`The document has no schema ${name}`);
    this.reached.add(name);
    return name;
  }

  /** Returns the base of an interface, without fields that the interface narrows to what the base does not allow. */
  #baseOf(base: string, own: string[]): string {
    const narrowed = own.filter((name) => this.#fieldsOf(base).includes(name));
    return narrowed.length === 0 ? this.#named(base) : `Omit<${this.#named(base)}, ${union(narrowed.map(literal))}>`;
  }

  /** Returns the names of a component's fields, with those of its bases. */
  #fieldsOf(name: string): string[] {
    const schema = this.#schemas[name];
    const bases = (schema?.allOf ?? []).flatMap((one) => (one.$ref ? this.#fieldsOf(nameIn(one.$ref)) : Object.keys(one.properties ?? {})));
    return [...Object.keys(schema?.properties ?? {}), ...bases];
  }

  #choice(values: unknown[]): string {
    const isEventType = values.length === this.#eventTypes.size && values.every((value) => this.#eventTypes.has(value));
    return isEventType ? 'EventType' : union(values.map(literal));
  }

  #merged(parts: Schema[]): string {
    return parts.map((one) => this.typeOf(one)).join(' & ');
  }

  #list(items: Schema): string {
    const item = this.typeOf(items);
    return /[|&]/.test(item.replace(/\{[\s\S]*\}/g, '')) ? `(${item})[]` : `${item}[]`;
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema): string {
    const rest = typeof additionalProperties === 'object' ? this.typeOf(additionalProperties) : null;
    const names = Object.keys(properties);
    if (names.length === 0) return `Record<string, ${rest ?? (additionalProperties === false ? 'never' : 'unknown')}>`;
    const fields = names.map((name) => this.#field(name, properties[name]!, required.includes(name)));
    return `{\n${fields.join('')}${rest === null ? '' : `[key: string]: ${rest};\n`}}`;
  }

  #field(name: string, schema: Schema, isRequired: boolean): string {
    return `${docOf(schema.description)}${keyOf(name)}${isRequired ? '' : '?'}: ${this.typeOf(schema)};\n`;
  }

  #exactlyOne(schema: Schema, pair: [string, string]): string {
    const { properties = {}, required = [] } = schema;
    const others = Object.fromEntries(Object.entries(properties).filter(([name]) => !pair.includes(name)));
    const choice = pair.map((name) => `{\n${this.#field(name, properties[name]!, true)} }`).join(' | ');
    return Object.keys(others).length === 0 ? choice : `${this.#object({ properties: others, required })} & (${choice})`;
  }
}

/** Returns one object schema, or null if a part is none. */
function mergedProperties(parts: Schema[]): Schema | null {
  const isPlain = ({ type, properties, allOf, anyOf, oneOf }: Schema) => type === 'object' && properties && !allOf && !anyOf && !oneOf;
  return parts.every(isPlain) ? (parts[0] ?? null) : null;
}
