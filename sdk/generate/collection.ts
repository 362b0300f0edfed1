import { STORIES, type Step, type Story } from './collection-stories.ts';
import type { Document } from './document.ts';

type Found = { verb: string; path: string; operation: Document['paths'][string][string] & { security?: Record<string, unknown>[] } };

const SETTINGS = {
  'bruno.json': `${JSON.stringify({ version: '1', name: 'paylatch', type: 'collection', ignore: ['node_modules', '.git'] }, null, 2)}\n`,
  'environments/local.bru': 'vars {\n  base_url: http://127.0.0.1:8787\n}\n',
};

/** Files of the Bruno collection, by path. A story is a folder, and a step is a request with its checks. */
export function collectionOf(document: Document): Record<string, string> {
  const operations = new Map<string, Found>();
  for (const [path, verbs] of Object.entries(document.paths))
    for (const [verb, operation] of Object.entries(verbs)) operations.set(operation.operationId, { verb, path, operation });
  const files: Record<string, string> = { ...SETTINGS };
  for (const [index, story] of STORIES.entries()) {
    files[`${story.guide}/folder.bru`] = folderText(story, index + 1);
    for (const [at, step] of story.steps.entries()) {
      const found = operations.get(step.operation);
      if (!found) throw new Error(`The document has no operation ${step.operation}, which the collection names.`);
      files[`${story.guide}/${String(at + 1).padStart(2, '0')}-${fileName(nameOf(step, found))}.bru`] = requestText(step, found, at + 1);
    }
  }
  return files;
}

const nameOf = ({ name }: Step, { operation }: Found): string => name ?? operation.summary ?? operation.operationId;
const fileName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const block = (name: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${name} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
const fields = (values: Record<string, string>): string[] => Object.entries(values).map(([name, value]) => `${name}: ${value}`);

const folderText = ({ guide, title }: Story, seq: number): string =>
  `meta {\n  name: ${title}\n  seq: ${seq}\n}\n${block('docs', [`The guide: {{base_url}}/docs/${guide}`])}`;

/** Headers of the operation's credential, if it needs one. */
function credentialOf({ operation: { security = [{}] } }: Found): Record<string, string> {
  if (security.some((one) => Object.keys(one).length === 0)) return {};
  return security.some((one) => 'apiKey' in one) ? { 'X-Svc-Key': '{{key}}' } : { Authorization: 'Bearer {{token}}' };
}

function requestText(step: Step, found: Found, seq: number): string {
  const { verb, path, operation } = found;
  const { params = {}, query = {}, body, takes = {}, expects = {} } = step;
  const url = `{{base_url}}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? raiseMissing(step, name))}`;
  const asked = Object.entries(query);
  const status = String(step.status ?? Object.keys(operation.responses).find((code) => code.startsWith('2')));
  const isIdempotent = operation['x-idempotency'] === 'required' || operation['x-idempotency'] === 'honoured';
  const headers = { ...credentialOf(found), ...(isIdempotent && { 'Idempotency-Key': 'collection-{{$guid}}' }) };
  const call = {
    url: asked.length === 0 ? url : `${url}?${asked.map(([name, value]) => `${name}=${value}`).join('&')}`,
    body: body === undefined ? 'none' : 'json',
    auth: 'none',
  };
  return [
    `meta {\n  name: ${nameOf(step, found)}\n  type: http\n  seq: ${seq}\n}\n`,
    block(verb, fields(call)),
    block('params:query', fields(query)),
    block('headers', fields(headers)),
    body === undefined ? '' : block('body:json', JSON.stringify(body, null, 2).split('\n')),
    block('vars:post-response', fields(takes)),
    block(
      'assert',
      fields({ 'res.status': `eq ${status}`, ...Object.fromEntries(Object.entries(expects).map(([of, is]) => [of, `eq ${is}`])) }),
    ),
    block('docs', (operation.description ?? operation.summary ?? '').split('\n')),
  ].join('');
}

function raiseMissing({ operation }: Step, name: string): never {
  throw new Error(`The collection calls ${operation} without {${name}}.`);
}
