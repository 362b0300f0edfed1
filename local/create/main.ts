import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { Refusal } from '../cli/options.ts';
import { makeProject, requireEmpty } from './make.ts';
import { isTemplate, menu, TEMPLATES, type Template } from './templates.ts';

const USAGE = `npm create paylatch <folder> -- --template <name>

${menu()}`;

interface Answers {
  folder: string;
  template: Template;
}

function readArguments(args: string[]): { help: boolean; folder?: string; template?: string } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { template: { type: 'string', short: 't' }, help: { type: 'boolean', short: 'h' } },
    });
    if (positionals.length > 1) throw new Error(`Name one folder, not ${positionals.length}.`);
    return { help: values.help ?? false, folder: positionals[0], template: values.template };
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

/** Asks for what the arguments do not say. Throws `Refusal` without a terminal, and for an unknown template. */
async function complete({ folder, template }: { folder?: string; template?: string }): Promise<Answers> {
  if (template !== undefined && !isTemplate(template)) throw new Refusal(`No template is named "${template}".\n\n${USAGE}`);
  if (folder !== undefined && template !== undefined) return { folder, template };
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new Refusal(`Name a folder and a template.\n\n${USAGE}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const chosen = folder ?? ((await terminal.question('Folder (my-shop): ')).trim() || 'my-shop');
    requireEmpty(chosen);
    if (template !== undefined) return { folder: chosen, template };
    const names = Object.keys(TEMPLATES) as Template[];
    console.log(`\n${menu()}\n`);
    for (;;) {
      const answer = (await terminal.question(`Template (${names[0]}): `)).trim() || names[0]!;
      if (isTemplate(answer)) return { folder: chosen, template: answer };
      console.log(`No template is named "${answer}".`);
    }
  } finally {
    terminal.close();
  }
}

async function main(): Promise<void> {
  const { help, ...given } = readArguments(process.argv.slice(2));
  if (help) return console.log(USAGE);
  const { folder, template } = await complete(given);
  const [last, ...others] = makeProject(folder, template).reverse();
  console.log(`${folder} is ready: ${TEMPLATES[template].makes}.

Next:

${others
  .reverse()
  .map((command) => `  ${command}`)
  .join('\n')}

Then set the variables as README.md says, in ${TEMPLATES[template].variables}, and run it:

  ${last}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
});
