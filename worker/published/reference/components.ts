import { getRefId, type OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import { z } from '@hono/zod-openapi';

const WRAPPERS = ['optional', 'nullable', 'default', 'readonly'];

/** Schemas below a value, without that of a wrapper. */
const schemasIn = (value: unknown): z.ZodType[] => {
  if (value instanceof z.ZodType) return WRAPPERS.includes(value.def.type) ? schemasIn(innerOf(value)) : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(schemasIn);
};

const innerOf = ({ def }: z.ZodType): unknown => ('innerType' in def ? def.innerType : null);

/** Schema that a description was added to: the component itself. */
const declared = (schema: z.ZodType, name: string): z.ZodType => {
  const { parent } = schema._zod;
  return parent instanceof z.ZodType && getRefId(parent) === name ? declared(parent, name) : schema;
};

/** Components of all operations and webhooks, each after those that it holds. */
function componentsOf({ definitions }: OpenAPIRegistry): Map<string, z.ZodType> {
  const components = new Map<string, z.ZodType>();
  const seen = new Set<z.ZodType>();
  const visit = (schema: z.ZodType): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    for (const inner of schemasIn(schema.def)) visit(inner);
    const name = getRefId(schema);
    if (name !== undefined && !components.has(name)) components.set(name, declared(schema, name));
  };
  for (const definition of definitions) {
    if (definition.type === 'route') for (const schema of schemasIn([definition.route.request, definition.route.responses])) visit(schema);
    if (definition.type === 'webhook') for (const schema of schemasIn(definition.webhook.request)) visit(schema);
  }
  return components;
}

/**
 * Generates the document from its components up. The generator otherwise gives a component the description of the first field that holds
 * it, and leaves that field without one.
 */
export function generateDocument(registry: OpenAPIRegistry, info: Parameters<OpenApiGeneratorV31['generateDocument']>[0]) {
  // Pages are much alike, and compress best one after another.
  const components = [...componentsOf(registry)].sort(([one], [other]) => Number(one.endsWith('Page')) - Number(other.endsWith('Page')));
  const schemas = components.map(([name, schema]) => ({ type: 'schema' as const, schema: schema.openapi(name) }));
  const generator = new OpenApiGeneratorV31([...schemas, ...registry.definitions]);
  // `generateDocument` alone begins with the webhooks.
  generator.generateComponents();
  return generator.generateDocument(info);
}
