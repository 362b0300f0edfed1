/** A schema of the published document, as far as a sample of it needs. */
export interface SampleSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  description?: string;
  properties?: Record<string, SampleSchema>;
  required?: string[];
  items?: SampleSchema;
  anyOf?: SampleSchema[];
  oneOf?: SampleSchema[];
  allOf?: SampleSchema[];
}

export type Schemas = Record<string, SampleSchema>;

/** A schema with what its reference names, and the parts of an intersection in one. */
export function resolved(schema: SampleSchema, schemas: Schemas): SampleSchema {
  if (schema.$ref) return resolved(schemas[schema.$ref.split('/').at(-1)!] ?? {}, schemas);
  if (!schema.allOf) return schema;
  const parts = schema.allOf.map((part) => resolved(part, schemas));
  return {
    ...schema,
    properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

const TEXTS: Record<string, string> = {
  uuid: '01900000-0000-7000-8000-000000000000',
  email: 'ada@example.com',
  uri: 'https://shop.example.com/thanks',
  'date-time': '2026-11-21T09:00:00.000Z',
};

/** What a value of this schema may look like: its example, else the fields that it requires. */
export function sampleOf(schema: SampleSchema, schemas: Schemas, depth = 0): unknown {
  const node = resolved(schema, schemas);
  if (node.example !== undefined) return node.example;
  if (node.const !== undefined) return node.const;
  if (node.enum) return node.enum[0];
  const choice = node.anyOf ?? node.oneOf;
  if (choice) return sampleOf(choice[0]!, schemas, depth);
  if (node.properties && depth < 4) {
    const { properties, required = [] } = node;
    return Object.fromEntries(
      required.flatMap((name) => (properties[name] ? [[name, sampleOf(properties[name], schemas, depth + 1)]] : [])),
    );
  }
  if (node.type === 'array') return node.items && depth < 4 ? [sampleOf(node.items, schemas, depth + 1)] : [];
  if (node.type === 'string') return TEXTS[node.format ?? ''] ?? '…';
  if (node.type === 'integer' || node.type === 'number') return node.minimum ?? 1;
  return node.type === 'boolean' ? true : {};
}
