import type { z } from '@hono/zod-openapi';
import { nearestOf } from '#core/text/nearest.ts';

/** A field of a body that its route does not know: where it stands, and the field it may have been meant for. */
export interface UnknownField {
  path: (string | number)[];
  nearest?: string;
}

/** Each one costs a comparison with every field that is known, and a caller mends the first ones first. */
const TOLD_MAX = 20;

/**
 * The fields of a JSON body that its schema does not name, in nested objects and lists too. An object that is a record or was declared
 * loose takes any field, as metadata and the bodies of protocols do; a field known to one alternative of a union is known. At most 20
 * are told.
 */
export function unknownFields(schema: z.ZodType, body: unknown): UnknownField[] {
  const found: UnknownField[] = [];
  collect(bareOf(schema), body, [], found);
  return found;
}

type Schema = z.core.$ZodTypes;

/** What may stand at a place once its wrappers are taken off: the alternatives of a union, the input and output of a pipe. */
function bareOf(schema: z.core.$ZodType): Schema[] {
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case 'union':
      return def.options.flatMap(bareOf);
    case 'intersection':
      return [def.left, def.right].flatMap(bareOf);
    case 'pipe':
      return [def.in, def.out].flatMap(bareOf);
    case 'lazy':
      return bareOf(def.getter());
    default:
      return 'innerType' in def ? bareOf(def.innerType) : [schema as Schema];
  }
}

function collect(schemas: Schema[], value: unknown, path: UnknownField['path'], found: UnknownField[]): void {
  // Bodies nest more deeply than the stack does, schemas do not.
  if (schemas.length === 0 || typeof value !== 'object' || value === null || found.length >= TOLD_MAX) return;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ _zod: { def } }) => (def.type === 'array' ? bareOf(def.element) : []));
    for (const [index, item] of value.entries()) if (typeof item === 'object') collect(items, item, [...path, index], found);
    return;
  }
  const shapes = closedShapes(schemas);
  if (shapes === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= TOLD_MAX) return;
    const known = shapes.flatMap((shape) => (Object.hasOwn(shape, name) ? bareOf(shape[name]!) : []));
    if (known.length > 0) collect(known, member, [...path, name], found);
    else found.push({ path: [...path, name], ...nearest(name, shapes.flatMap(Object.keys)) });
  }
}

/** The fields of the objects that may stand somewhere; null where no object may, or one that takes any field. */
function closedShapes(schemas: Schema[]): z.core.$ZodShape[] | null {
  const shapes: z.core.$ZodShape[] = [];
  for (const { _zod } of schemas) {
    const { def } = _zod;
    if (def.type === 'record' || def.type === 'unknown' || def.type === 'any') return null;
    if (def.type !== 'object') continue;
    if (def.catchall && def.catchall._zod.def.type !== 'never') return null;
    shapes.push(def.shape);
  }
  return shapes.length > 0 ? shapes : null;
}

const nearest = (name: string, known: string[]): Pick<UnknownField, 'nearest'> => {
  const found = nearestOf(name, known);
  return found === null ? {} : { nearest: found };
};
