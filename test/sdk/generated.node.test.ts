import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STORIES } from '../../sdk/generate/collection-stories.ts';
import { generateCollection, generateFiles } from '../../sdk/generate.ts';
import { surfaceText } from '../../sdk/surface.ts';

const SDK = join(import.meta.dirname, '../../sdk');
const COLLECTION = join(SDK, '../bruno');
const GENERATED = join(SDK, 'src/generated');

describe('sdk/src/generated', () => {
  it('every file equals the output of `npm run sdk:generate`, and no other file exists', async () => {
    const files = await generateFiles();
    expect(readdirSync(GENERATED).sort()).toEqual(Object.keys(files).sort());
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(GENERATED, name), 'utf8'), name).toBe(text);
  }, 120_000);
});

describe('bruno', () => {
  it('every request equals the output of `npm run sdk:generate`, no other file exists, and each folder has a guide', async () => {
    const files = await generateCollection();
    const found = readdirSync(COLLECTION, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found.map(({ parentPath, name }) => relative(COLLECTION, join(parentPath, name))).sort()).toEqual(Object.keys(files).sort());
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(COLLECTION, name), 'utf8'), name).toBe(text);
    for (const { guide } of STORIES) expect(existsSync(join(SDK, `../docs/${guide}.md`)), guide).toBe(true);
  }, 120_000);
});

describe('sdk/api-surface.txt', () => {
  it('the exports of every entry are those of the file: `npm run sdk:generate` writes it', () => {
    expect(surfaceText()).toBe(readFileSync(join(SDK, 'api-surface.txt'), 'utf8'));
  }, 60_000);
});
