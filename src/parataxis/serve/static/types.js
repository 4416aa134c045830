// The shapes of the records that the modules share. Only types: nothing here runs.

/**
 * A word of a simple sentence. Places are counted in code points, as the server counts.
 * @typedef {{text: string, start: number, end: number,
 *   origin: "copied" | "inflected" | "inserted", source?: [number, number] | null}} Token
 *
 * A fault that a check found; without `sentence`, its words stand in the source.
 * @typedef {{kind: string, words: string, sentence?: number | null, start: number, end: number,
 *   message: string}} Finding
 *
 * A source and its simple sentences: the one record of Parataxis.
 * @typedef {{source: string, simple: string[], splitter: string, provenance?: Token[][] | null,
 *   findings?: Finding[] | null, note?: string | null, confidence?: number | null,
 *   id?: string | null}} Rewrite
 *
 * A phrase of the source at which it can be split, with its plain name.
 * @typedef {{pattern: string, name: string, words?: string, start: number, end: number}} Pattern
 *
 * A rewrite with the patterns of its source, and for each simple sentence those that it says.
 * @typedef {{rewrite: Rewrite, patterns: Pattern[], splits: string[][],
 *   words: number[], sourceWords: number,
 *   nested: boolean, by: "splitter" | "further" | "hand" | "alternative"}} Version
 *
 * What the server sends for one sentence.
 * @typedef {{index: number, start: number | null, end: number | null, rewrite: Rewrite,
 *   patterns: Pattern[] | null, splits: string[][] | null, words?: number[] | null,
 *   source_words?: number | null, nested?: boolean | null}} Split
 *
 * A sentence of the text. `start` and `end` are its place in the JavaScript string of the text.
 * `breaks` says whether a paragraph begins with it, `lead` is what stands before it on its line,
 * and `above` what stands between it and the sentence before, such as a heading. `obstacle` says
 * why its change cannot be written into the file it came from. `made` is what the splitter made, `now` what stands there now.
 * @typedef {{index: number, start: number, end: number, breaks: boolean, lead: string, above: string,
 *   obstacle: string, made: Version, now: Version, decision: Decision}} Row
 *
 * @typedef {"accepted" | "rejected" | null} Decision
 *
 * What a step of the writer changes of a row.
 * @typedef {{now: Version, decision: Decision}} Standing
 *
 * @typedef {{grade: number | null, sentences: number, words: number, words_per_sentence: number,
 *   longest: number}} Readability
 *
 * @typedef {{name: string, summary: string, problem?: string | null,
 *   adjustable?: boolean, levels?: string[]}} SplitterInfo
 *
 * How to split: see the options of the command.
 * @typedef {{strict?: boolean, level?: string, max_words?: number | null,
 *   keep_phrases?: string[]}} Settings
 *
 * @typedef {{text: string, start: number, end: number}} DocumentSentence
 * @typedef {{name: string, kind: string, text: string, note: string, english: boolean,
 *   sentences: DocumentSentence[]}} DocumentText
 */

export {};
