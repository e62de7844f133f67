// Starts `hardbop lsp` for C files; all the rest is the language client's.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("hardbop");
  const server = { command: settings.get("path"), args: ["lsp"] };
  const options = {
    documentSelector: [{ scheme: "file", language: "c" }],
    initializationOptions: {
      arguments: settings.get("arguments"),
      timeLimit: settings.get("timeLimit"),
    },
  };
  client = new LanguageClient("hardbop", "Hardbop", server, options);
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
