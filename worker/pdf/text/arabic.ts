import { type Cluster, escapeOf } from './clusters.ts';

/**
 * Chooses the contextual forms of Arabic letters. Unicode has a character for each form of the letters of Arabic, Persian and Urdu (Arabic
 * Presentation Forms A and B) with glyphs in the font, so no shaping engine is needed.
 */
interface Forms {
  isolated: string;
  final?: string;
  initial?: string;
  medial?: string;
}

/** Blocks that list a letter's forms in this order: isolated, final, initial, medial. */
const FORM_BLOCKS: [from: number, to: number][] = [
  [0xfb50, 0xfbb1],
  [0xfbd3, 0xfbe7],
  [0xfbfc, 0xfbff],
  [0xfe80, 0xfef4],
];
const LAM = '\u0644';
const LAM_ALEF: Readonly<Record<string, Forms>> = {
  '\u0622': { isolated: '\ufef5', final: '\ufef6' },
  '\u0623': { isolated: '\ufef7', final: '\ufef8' },
  '\u0625': { isolated: '\ufef9', final: '\ufefa' },
  '\u0627': { isolated: '\ufefb', final: '\ufefc' },
};
const TATWEEL: Forms = { isolated: '\u0640', final: '\u0640', initial: '\u0640', medial: '\u0640' };
const ARABIC_LETTER = /^(?=\p{L})\p{Script=Arabic}$/u;

/** Builds the map from the compatibility decomposition, which names a form's base letter. */
function readForms(): Map<string, Forms> {
  const characters = new Map<string, string[]>();
  for (const [from, to] of FORM_BLOCKS) {
    for (let codePoint = from; codePoint <= to; codePoint++) {
      const form = String.fromCodePoint(codePoint);
      const letter = form.normalize('NFKC');
      if (letter.length === 1 && letter !== form) characters.set(letter, [...(characters.get(letter) ?? []), form]);
    }
  }
  const forms = new Map(
    [...characters].map(([letter, [isolated, final, initial, medial]]) => [letter, { isolated: isolated!, final, initial, medial }]),
  );
  return new Map<string, Forms>(forms).set('\u0640', TATWEEL);
}

const FORMS = readForms();

interface Letter {
  cluster: Cluster;
  forms: Forms | null;
}

/** Assigns forms to letters and merges lam and alef. A letter without known forms is escaped, because its isolated form would misread. */
function lettersOf(clusters: Cluster[]): Letter[] {
  const letters: Letter[] = [];
  for (const cluster of clusters) {
    const before = letters.at(-1);
    const pair = before?.cluster.shown === LAM && !before.cluster.breaksJoin ? LAM_ALEF[cluster.shown] : undefined;
    if (before && pair) {
      letters[letters.length - 1] = { cluster: { ...cluster, text: before.cluster.text + cluster.text }, forms: pair };
      continue;
    }
    const forms = FORMS.get(cluster.shown) ?? null;
    const isUnknown = !forms && ARABIC_LETTER.test(cluster.shown) && cluster.shown === cluster.shown.normalize('NFKC');
    if (isUnknown) letters.push(...escapeOf(cluster.text).map((shown) => ({ cluster: shown, forms: null })));
    else letters.push({ cluster, forms });
  }
  return letters;
}

/** Clusters in logical order, with every Arabic letter in its contextual form. Pure. */
export function joinArabic(clusters: Cluster[]): Cluster[] {
  const letters = lettersOf(clusters);
  const joins = (left: Letter | undefined, right: Letter | undefined): boolean =>
    Boolean(left?.forms?.initial && right?.forms?.final && !left.cluster.breaksJoin);
  return letters.map((letter, index) => {
    if (!letter.forms) return letter.cluster;
    const { isolated, final, initial, medial } = letter.forms;
    const isJoined = joins(letters[index - 1], letter);
    const shown = joins(letter, letters[index + 1]) ? (isJoined ? medial : initial) : isJoined ? final : isolated;
    return { ...letter.cluster, shown: shown ?? isolated };
  });
}
