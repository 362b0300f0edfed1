import type { Mutation } from '../runtime/program.ts';
import type { Role } from '../world/play.ts';

/** Fault that is planted into the program to show that the simulator finds it. */
export interface PlantedFault {
  name: string;
  /** Sentence that says which promise of the service the fault breaks. */
  breaks: string;
  /** Pieces of the program's text with their replacements. Each piece occurs once. */
  mutations: readonly Mutation[];
  /** Roles that lead to the fault, where all of them together would take longer than a few minutes. Absent: all. */
  roles?: readonly Role[];
  /** Finding that shows the fault. Other findings do not count. */
  finding: RegExp;
}
