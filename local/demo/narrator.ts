import { styleText } from 'node:util';

const LABEL_WIDTH = 15;

export class Narrator {
  #steps = 0;

  step(title: string): void {
    console.log(`\n${styleText('bold', `${++this.#steps}. ${title}`)}`);
  }

  say(text: string): void {
    console.log(`   ${text}`);
  }

  fact(label: string, value: string): void {
    console.log(`   ${styleText('dim', label.padEnd(LABEL_WIDTH))} ${styleText('cyan', value)}`);
  }

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

export function check(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
