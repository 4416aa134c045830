// Starts `parataxis lsp` and connects it to the editor.

const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const LANGUAGES = ["plaintext", "markdown", "html", "restructuredtext", "asciidoc", "python"];

/** @type {LanguageClient | undefined} */
let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("parataxis");
  const server = { command: settings.get("command"), args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("parataxis", "Parataxis", server, {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: settings,
    synchronize: { configurationSection: "parataxis" },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
