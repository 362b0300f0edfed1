/**
 * The extension `bazaar` of a server that only uses the facilitator. Nothing of it is trusted: its references are never fetched, and its
 * texts are cleaned before they are shown. (x402-foundation/x402, specs/extensions/bazaar.md, "Trust boundary")
 * @module
 */

import { err, ok, type Result } from '#core/errors.ts';
import { checkJson, checkReferenceKeys, checkSchema } from '#protocols/json-schema/check.ts';
import { isObject, type JsonObject } from '#protocols/json-schema/keywords.ts';
import { satisfies } from '#protocols/json-schema/validate.ts';
import { BODY_METHODS, BODY_TYPES, matchPath, QUERY_METHODS } from '#protocols/x402/discovery.ts';
import { shownText } from '#rules/catalogue/words.ts';

export interface ForeignBazaar {
  method: string;
  query: JsonObject;
  body: { type: string; value: unknown } | null;
  /** Path with its parameters by name. */
  template: string | null;
  /** Extension as the catalogue shows it. */
  shown: object;
}

const JSON_CHARS_MAX = 8_192;
/** The schemas of a route are three levels inside the schema of the extension. */
const LEVELS_MAX = 12;

/** Reads the extension of a resource at a path. `invalid_info`: no catalogue would take it. `external_ref`: its schema refers to another document. */
export function readForeignBazaar(foreign: unknown, pathname: string): Result<ForeignBazaar, 'invalid_info' | 'external_ref'> {
  if (!isObject(foreign) || JSON.stringify(foreign).length > JSON_CHARS_MAX || checkJson(foreign).length > 0) return err('invalid_info');
  // Judges the copy that is shown.
  const extension = cleaned(foreign);
  if (!isObject(extension) || !isObject(extension.info) || !isObject(extension.schema)) return err('invalid_info');
  const { info, schema, routeTemplate } = extension;
  if (checkReferenceKeys(schema).length > 0) return err('external_ref');
  const { input } = info;
  if (!isObject(input) || input.type !== 'http' || checkSchema(schema, LEVELS_MAX).length > 0 || !satisfies(schema, info))
    return err('invalid_info');
  const { method, queryParams = {}, bodyType = 'json', body = {} } = input;
  const hasBody = (BODY_METHODS as readonly unknown[]).includes(method);
  const isMethod = hasBody || (QUERY_METHODS as readonly unknown[]).includes(method);
  if (!isMethod || !isObject(queryParams) || !(BODY_TYPES as readonly unknown[]).includes(bodyType)) return err('invalid_info');
  return ok({
    method: String(method),
    query: queryParams,
    body: hasBody ? { type: String(bodyType), value: body } : null,
    template: isTemplateOf(routeTemplate, pathname) ? routeTemplate : null,
    shown: { info, schema, ...(isTemplateOf(routeTemplate, pathname) ? { routeTemplate } : {}) },
  });
}

const isTemplateOf = (template: unknown, pathname: string): template is string =>
  typeof template === 'string' && /^[\x21-\x7e]{1,512}$/.test(template) && matchPath(template, pathname) !== null;

/** Copy with every text as it may be shown. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value) ?? '';
  if (Array.isArray(value)) return value.map(cleaned);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, part]) => [shownText(key) ?? '', cleaned(part)])) : value;
}
