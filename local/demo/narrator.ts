import { styleText } from 'node:util';

const LABEL_WIDTH = 15;

/** Tells the story on the terminal; `styleText` colours only where the output is a terminal. */
export class Narrator {
  #steps = 0;

  /** Opens the next numbered step. */
  step(title: string): void {
    console.log(`\n${styleText('bold', `${++this.#steps}. ${title}`)}`);
  }

  say(text: string): void {
    console.log(`   ${text}`);
  }

  /** A real value, under its name. */
  fact(label: string, value: string): void {
    console.log(`   ${styleText('dim', label.padEnd(LABEL_WIDTH))} ${styleText('cyan', value)}`);
  }

  /** Something that was checked and holds. */
  proven(text: string): void {
    console.log(`   ${styleText('green', '✓')} ${text}`);
  }

  end(text: string): void {
    console.log(`\n${styleText(['bold', 'green'], text)}`);
  }

  fail(text: string): void {
    console.error(`\n${styleText(['bold', 'red'], text, { stream: process.stderr })}`);
  }
}

/** Stops the story where it is not true. */
export function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
