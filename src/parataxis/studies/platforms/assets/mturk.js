// A task on Mechanical Turk: which questions are asked, where the answers go. This file must not
// hold a dollar sign before a brace, which would be taken for a placeholder.
(function () {
  "use strict";
  var page = document.querySelector(".parataxis");
  var form = document.forms[0];
  var questions = Array.prototype.slice.call(page.querySelectorAll("[data-question]"));
  var fixed = page.dataset.identical === "yes" ? JSON.parse(page.dataset.fixed) : {};
  var given = new URLSearchParams(location.search);

  function has(known, name) {
    return Object.prototype.hasOwnProperty.call(known, name);
  }

  function answerOf(part) {
    var chosen = part.querySelector("input:checked") || part.querySelector("textarea");
    return chosen ? chosen.value : null;
  }

  function refresh() {
    var known = Object.assign({}, fixed);
    questions.forEach(function (part) {
      var name = part.dataset.question;
      var when = JSON.parse(part.dataset.when);
      var asked = !has(fixed, name) && Object.keys(when).every(function (other) {
        return has(known, other) && when[other].indexOf(known[other]) >= 0;
      });
      part.hidden = part.disabled = !asked;
      if (asked) { known[name] = answerOf(part); }
    });
  }

  function chooseByDigit(event) {
    var part = event.target.closest("[data-question]");
    if (!part || event.target.type !== "radio" || event.ctrlKey || event.altKey || event.metaKey) { return; }
    var wanted = part.querySelector("input[value='" + CSS.escape(event.key) + "']");
    if (wanted && /^[0-9]$/.test(event.key)) {
      wanted.focus();
      wanted.click();
      event.preventDefault();
    }
  }

  function connect() {
    var assignment = given.get("assignmentId");
    if (assignment === null) { return; }  // the requester's site fills the form itself
    if (assignment === "ASSIGNMENT_ID_NOT_AVAILABLE") {
      page.querySelector("[data-preview]").hidden = false;
      page.querySelector("button[type=submit]").disabled = true;
      return;
    }
    if (!form.elements.assignmentId) {
      var field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.appendChild(field);
    }
    form.elements.assignmentId.value = assignment;
    if (given.get("turkSubmitTo") && !form.getAttribute("action")) {
      form.action = given.get("turkSubmitTo").replace(/\/+$/, "") + "/mturk/externalSubmit";
    }
  }

  form.addEventListener("change", refresh);
  form.addEventListener("input", refresh);
  form.addEventListener("keydown", chooseByDigit);
  connect();
  refresh();
}());
