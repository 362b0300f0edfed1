interface SchemaNode {
  $ref?: string;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: unknown;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  allOf?: SchemaNode[];
}

interface Described {
  paths?: object;
  components?: { schemas?: object };
}

/**
 * Sets `additionalProperties: false` on request body objects unless their schema allows others, as the routes enforce. Mutates the
 * document.
 */
export function closeBodies<D extends Described>(document: D): D {
  const components = (document.components?.schemas ?? {}) as Record<string, SchemaNode>;
  const seen = new Set<SchemaNode>();
  const close = (node: SchemaNode | undefined): void => {
    if (!node || seen.has(node)) return;
    seen.add(node);
    if (node.$ref) close(components[node.$ref.replace('#/components/schemas/', '')]);
    if (node.properties) node.additionalProperties ??= false;
    for (const inner of [
      node.items,
      ...Object.values(node.properties ?? {}),
      ...(node.anyOf ?? []),
      ...(node.oneOf ?? []),
      ...(node.allOf ?? []),
    ])
      close(inner);
  };
  for (const methods of Object.values(document.paths ?? {}))
    for (const { requestBody } of Object.values(methods) as { requestBody?: { content?: Record<string, { schema?: SchemaNode }> } }[])
      close(requestBody?.content?.['application/json']?.schema);
  return document;
}
